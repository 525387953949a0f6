import { expect, test } from "vitest";
import type { RunEvent } from "../core/index.ts";
import { ToolErrorTally } from "./tool-errors.ts";

function listOf(...results: [name: string, isError: boolean, trace?: string][]) {
  const tally = new ToolErrorTally();
  for (const [name, isError, trace] of results)
    tally.add({
      type: "entry-end",
      dataset: "Desk",
      queryId: "q1",
      rollout: 0,
      entry: { type: "tool-result", name, isError, content: "{}", trace },
    } as unknown as RunEvent);
  return tally.list().map(({ tool, calls, errors, thrown }) => [tool, calls, errors, thrown]);
}

test("an error now and then is an answer; a tool that threw, or that mostly fails, looks broken", () => {
  const answers = (name: string, errors: number, calls: number) =>
    Array.from({ length: calls }, (_, index): [string, boolean] => [name, index < errors]);
  expect(listOf(...answers("sign_in", 3, 10), ...answers("rare", 2, 2))).toEqual([]);
  expect(listOf(...answers("book", 4, 6), ["find", true, "TypeError"], ["find", false])).toEqual([
    ["find", 2, 1, 1],
    ["book", 6, 4, 0],
  ]);
});
