import { expect, test } from "vitest";
import { formatLocation, messageOf, RolloutError, UsageError } from "./errors.ts";
import { endWith, LOOP_REASONS, type LoopReason } from "./outcome.ts";

test("a usage error opens with the place, as far as it is known", () => {
  expect(new UsageError("is bad", { file: "a.yml", line: 3, column: 7 }).message).toBe("a.yml:3:7: is bad");
  expect(new UsageError("is bad", { file: "a.yml", line: 3 }).message).toBe("a.yml:3: is bad");
  expect(new UsageError("is bad", { file: "a.yml" }).message).toBe("a.yml: is bad");
  expect(new UsageError("is bad").message).toBe("is bad");
  expect(formatLocation({ file: "a" })).toBe("a");
});

test("a rollout error is not retried unless it says so, and ends as infrastructure unless it says otherwise", () => {
  expect(new RolloutError("tool", "gone")).toMatchObject({ retryable: false, stopReason: "infrastructure" });
  const cause = new Error("why");
  expect(new RolloutError("agent", "full", { retryable: true, cause, stopReason: "context_overflow" })).toMatchObject({
    boundary: "agent",
    retryable: true,
    cause,
    stopReason: "context_overflow",
  });
});

test("whatever was thrown has a message", () => {
  expect([new Error("a"), "b", 3, undefined].map(messageOf)).toEqual(["a", "b", "3", "undefined"]);
  const poisoned = {
    toString() {
      throw new Error("no text");
    },
  };
  expect(messageOf(poisoned)).toBe("something that has no text (object)");
  expect(messageOf(Object.create(null))).toBe("something that has no text (object)");
  expect(messageOf(Object.assign(new Error("a"), { message: Symbol("odd") }))).toBe("Symbol(odd)");
});

test("every end carries the success that its label stands for", () => {
  for (const reason of Object.keys(LOOP_REASONS) as LoopReason[]) {
    expect(endWith(reason)).toEqual({ success: LOOP_REASONS[reason], stopReason: reason });
  }
  expect(endWith("max_steps", { blame: "agent", message: "m" })).toEqual({
    success: false,
    stopReason: "max_steps",
    blame: "agent",
    message: "m",
  });
});
