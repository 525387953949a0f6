import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "./abort.ts";

test("all who wait hear of an abort once; who has left hears nothing, whenever that was", () => {
  const controller = new AbortController();
  const heard: string[] = [];
  const leave = onAbort(controller.signal, () => heard.push("left before"));
  let leaveSecond = () => {};
  onAbort(controller.signal, () => {
    heard.push("first");
    leaveSecond();
  });
  leaveSecond = onAbort(controller.signal, () => heard.push("left meanwhile"));
  onAbort(controller.signal, () => heard.push("last"));
  leave();
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort();
  controller.abort();
  expect(heard).toEqual(["first", "last"]);
});
