import { expect, test } from "vitest";
import { groupFailures } from "./failure-groups.ts";

const group = (...errors: string[]) =>
  groupFailures(errors.map((error) => ({ error, kind: "server" }))).map(({ reason, count }) => `${count} ${reason}`);

test("sentences that differ only in the id of a query or a request are one reason, told by the first", () => {
  expect(group('no plan for "sap-001"', "gone", 'no plan for "sap-002"', 'no plan for "sap-003"')).toEqual([
    '3 no plan for "sap-001"',
    "1 gone",
  ]);
  expect(group("failed (500): req_8f2c01 broke", "failed (500): req_11aa27 broke")).toHaveLength(1);
});

test("another status, another server or another class is another reason", () => {
  expect(group("failed (500)", "failed (503)")).toHaveLength(2);
  expect(group("http://127.0.0.1:8001/v1 failed", "http://127.0.0.1:8002/v1 failed")).toHaveLength(2);
  const kinds = ["server", "network"].map((kind) => ({ error: "no answer", kind }));
  expect(groupFailures(kinds)).toHaveLength(2);
});

test("reasons without end are counted together", () => {
  const letters = Array.from({ length: 200 }, (_, n) => "x".repeat(n + 1));
  const groups = groupFailures(letters.map((error) => ({ error, kind: "server" })));
  expect(groups.length).toBe(51);
  expect(groups[0]).toMatchObject({ reason: "other reasons", count: 150 });
});
