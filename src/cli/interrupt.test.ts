import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { listenForInterrupt } from "./interrupt.ts";

function fakeProcess() {
  const exits: (number | string | null | undefined)[] = [];
  const source = Object.assign(new EventEmitter(), { exit: (code?: number | string | null) => exits.push(code) });
  return { exits, source: source as EventEmitter & Parameters<typeof listenForInterrupt>[0] };
}

test("the first Ctrl-C parks and says so once; nothing under way is aborted", () => {
  const { source, exits } = fakeProcess();
  const said: string[] = [];
  const { park, abort, release } = listenForInterrupt(source, (text) => said.push(text));
  source.emit("SIGINT");
  expect([park.aborted, abort.aborted, exits, said.length]).toEqual([true, false, [], 1]);
  release();
});

test("the second leaves at once with 130, whichever of the two signals it is", () => {
  const { source, exits } = fakeProcess();
  const { abort, release } = listenForInterrupt(source, () => {});
  source.emit("SIGTERM");
  source.emit("SIGINT");
  expect([abort.aborted, exits]).toEqual([true, [130]]);
  release();
});

test("after the run the signals have their usual meaning again", () => {
  const { source } = fakeProcess();
  listenForInterrupt(source, () => {}).release();
  expect(source.listenerCount("SIGINT") + source.listenerCount("SIGTERM")).toBe(0);
});
