import { expect, test } from "vitest";
import { raceAbort } from "./race-abort.ts";

const never = new Promise<string>(() => {});

test("work that never ends is left as soon as the signal is set, with the signal's reason", async () => {
  const stop = new AbortController();
  const waiting = raceAbort(never, stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(raceAbort(never, stop.signal)).rejects.toThrow("enough");
});

test("without a signal, or before it is set, the work ends as it ends", async () => {
  const { signal } = new AbortController();
  expect(await raceAbort(Promise.resolve(1), signal)).toBe(1);
  expect(await raceAbort(Promise.resolve(2), undefined)).toBe(2);
  await expect(raceAbort(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
});
