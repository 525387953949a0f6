import { expect, test } from "vitest";
import { type JsonObject, parseExact } from "../../core/index.ts";
import { toTools } from "./prompt.ts";

test("provider packages get ordinary numbers, and whether a schema is strict", () => {
  const parameters = parseExact('{"type":"object","properties":{"id":{"maximum":12345678901234567890}}}') as JsonObject;
  const tool = { name: "pay", description: "", parameters, readOnly: false };
  expect(toTools([tool, { ...tool, others: { strict: true, note: "x" } }])).toEqual(
    [{}, { strict: true }].map((more) => ({
      type: "function",
      name: "pay",
      description: "",
      inputSchema: { type: "object", properties: { id: { maximum: Number("12345678901234567890") } } },
      ...more,
    })),
  );
});
