import { describe, expect, test } from "vitest";
import { calls, result, says, user } from "../../../test/support/export-records.ts";
import { longestChain } from "./chains.ts";

const chain = [
  user("Where is the order of ann@example.com?"),
  calls(["a", "find_user", '{"email":"ann@example.com"}']),
  result("a", '{"user_id":"USR-17"}'),
  calls(["b", "list_orders", '{"user_id":"USR-17"}']),
  result("b", '{"orders":{"W2378156":{"total":50}}}'),
  calls(["c", "get_order", '{"order":{"id":"W2378156"}}']),
  result("c", '{"status":"sent"}'),
  says("It is on its way."),
];

describe("longestChain", () => {
  test("each call takes an id from the result before: three calls, three long; keys of results are values too", () => {
    expect(longestChain(undefined, chain)).toBe(3);
  });

  test("no calls are 0; calls that need nothing of each other are 1", () => {
    expect(longestChain(undefined, [user("Hi"), says("Yes?")])).toBe(0);
    const apart = [calls(["a", "find", '{"id":"A-1"}']), result("a", "B-2"), calls(["b", "find", '{"id":"C-3"}'])];
    expect(longestChain(undefined, [user("Find A-1 and C-3."), ...apart])).toBe(1);
  });

  test("what the user, the system prompt or an earlier call said first is not taken from a result", () => {
    const uses = (id: string) => [result("a", `It is ${id}.`), calls(["b", "get", JSON.stringify({ id })])];
    const first = calls(["a", "list", "{}"]);
    expect(longestChain(undefined, [user("What is there?"), first, ...uses("W2378156")])).toBe(2);
    expect(longestChain(undefined, [user("About w2378156"), first, ...uses("W2378156")])).toBe(1);
    expect(longestChain("The desk is W2378156.", [user("Hi"), first, ...uses("W2378156")])).toBe(1);
    expect(longestChain(undefined, [user("On February 13"), first, ...uses("2026-02-13")])).toBe(1);
    const made = calls(["a", "make", '{"id":"W2378156"}']);
    expect(longestChain(undefined, [user("Hi"), made, ...uses("W2378156")])).toBe(1);
    const later = [user("What is there?"), first, ...uses("W2378156").slice(0, 1), user("Take W2378156")];
    expect(longestChain(undefined, [...later, ...uses("W2378156").slice(1)])).toBe(2);
  });

  test("small numbers and words, which turn up by chance, are no dependency; large numbers are", () => {
    const uses = (shown: unknown, taken: unknown) =>
      longestChain(undefined, [
        user("Go."),
        calls(["a", "list", "{}"]),
        result("a", JSON.stringify({ shown })),
        calls(["b", "get", JSON.stringify({ taken })]),
      ]);
    expect(uses(7, 7)).toBe(1);
    expect(uses("999", "999")).toBe(1);
    expect(uses("pending", "pending")).toBe(1);
    expect(uses("W23781567", "W2378156")).toBe(1);
    expect(uses(71234, 71234)).toBe(2);
    expect(uses(["x", "B7"], ["B7"])).toBe(2);
  });

  test("a call in the same step cannot take from its neighbour's result", () => {
    const both = [
      user("Go."),
      calls(["a", "list", "{}"], ["b", "get", '{"id":"W2378156"}']),
      result("a", "W2378156"),
      result("b", "W2378156"),
    ];
    expect(longestChain(undefined, both)).toBe(1);
  });
});
