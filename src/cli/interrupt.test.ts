import { EventEmitter } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
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
  expect(source.eventNames()).toEqual([]);
});

test("a terminal that hangs up parks, however often it says so", () => {
  const { source, exits } = fakeProcess();
  const { park, abort, release } = listenForInterrupt(source, () => {
    throw new Error("nobody is there");
  });
  expect(() => source.emit("SIGHUP")).toThrow("nobody is there");
  source.emit("SIGHUP");
  expect([park.aborted, abort.aborted, exits]).toEqual([true, false, []]);
  source.emit("SIGTERM");
  expect([abort.aborted, exits]).toEqual([true, [130]]);
  release();
});

test("replies in flight have a minute; what does not end even then is left behind", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { source, exits } = fakeProcess();
  const { abort, release } = listenForInterrupt(source, () => {});
  source.emit("SIGTERM");
  vi.advanceTimersByTime(59_999);
  expect(abort.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect([abort.aborted, exits]).toEqual([true, []]);
  vi.advanceTimersByTime(10_000);
  expect(exits).toEqual([130]);
  release();
});
