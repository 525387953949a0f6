import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonObject, parseExact, type ToolSpec } from "../core/index.ts";
import { checkArguments, unknownTool } from "./arguments.ts";

const parameters: JsonObject = {
  type: "object",
  properties: {
    student_id: { type: "string", pattern: "^S[0-9]{4}$" },
    amount: { type: "number", minimum: 1, maximum: 100, multipleOf: 0.5 },
    term: { type: "string", enum: ["2026SP", "2026FA"] },
    currency: { const: "USD" },
    note: { type: ["string", "null"], minLength: 2, maxLength: 5 },
    doses: {
      type: "array",
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      items: {
        type: "object",
        properties: { vaccine: { type: "string" }, "on/at": { type: "string" } },
        required: ["vaccine"],
        additionalProperties: false,
      },
    },
    either: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
    labels: { type: "object", propertyNames: { pattern: "^[a-z]+$" }, maxProperties: 2 },
    confirm: { type: "boolean" },
  },
  required: ["student_id"],
  additionalProperties: false,
};
const spec: ToolSpec = { name: "pay", description: "", parameters, readOnly: false };

function refusal(args: unknown, tool: ToolSpec = spec) {
  const checked = checkArguments(tool, typeof args === "string" ? args : JSON.stringify(args));
  if (checked.ok) throw new Error("the arguments passed");
  return { ...checked.result, error: (JSON.parse(checked.result.content) as { error: string }).error };
}

test("arguments nested thousands deep are the model's mistake, whatever the schema", () => {
  const deep = `{"labels":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  expect(refusal(deep)).toMatchObject({ fault: "malformed_arguments", isError: true });
  expect(refusal(deep).error).toContain("128 levels");
});

describe("arguments that break the schema", () => {
  const student_id = "S1234";

  test.each([
    ["a missing field", {}, '"student_id" is missing'],
    ["a pattern", { student_id: "1234" }, '"student_id" must match pattern'],
    ["a type", { student_id, amount: "10" }, '"amount" must be number'],
    ["several types", { student_id, note: 3 }, '"note" must be string or null'],
    ["a minimum", { student_id, amount: 0 }, '"amount" must be >= 1'],
    ["a maximum", { student_id, amount: 101 }, '"amount" must be <= 100'],
    ["a multiple", { student_id, amount: 1.2 }, '"amount" must be multiple of 0.5'],
    ["an enum", { student_id, term: "2027" }, '"term" must be one of "2026SP", "2026FA"'],
    ["a constant", { student_id, currency: "EUR" }, '"currency" must be "USD"'],
    ["a length", { student_id, note: "x" }, '"note" must NOT have fewer than 2 characters'],
    ["another length", { student_id, note: "xxxxxx" }, '"note" must NOT have more than 5 characters'],
    ["too few items", { student_id, doses: [] }, '"doses" must NOT have fewer than 1 items'],
    ["too many items", { student_id, doses: [1, 2, 3] }, '"doses" must NOT have more than 2 items'],
    ["repeated items", { student_id, doses: [{ vaccine: "a" }, { vaccine: "a" }] }, '"doses" must NOT have duplicate'],
    ["a field of an item", { student_id, doses: [{ vaccine: 1 }] }, '"doses.0.vaccine" must be string'],
    ["a missing field of an item", { student_id, doses: [{}] }, '"doses.0.vaccine" is missing'],
    ["an unknown field of an item", { student_id, doses: [{ vaccine: "a", day: 1 }] }, '"doses.0.day" is not a param'],
    ["a field with a slash", { student_id, doses: [{ vaccine: "a", "on/at": 1 }] }, '"doses.0.on/at" must be string'],
    ["alternatives", { student_id, either: "x" }, '"either" must match a schema in anyOf'],
    ["a name", { student_id, labels: { UP: 1 } }, '"labels.UP"'],
    ["too many fields", { student_id, labels: { a: 1, b: 2, c: 3 } }, '"labels" must NOT have more than 2 properties'],
    ["an unknown field", { student_id, confirmed: true }, '"confirmed" is not a parameter; did you mean "confirm"?'],
  ])("are refused by field: %s", (_what, args, expected) => {
    const { error, isError, fault } = refusal(args);
    expect(error).toContain(expected);
    expect({ isError, fault }).toEqual({ isError: true, fault: "invalid_arguments" });
    expect(error).toContain('term ("2026SP"|"2026FA")');
    expect(error).toContain("student_id (string, required)");
  });

  test("are all named at once", () => {
    const { error } = refusal({ amount: "x", term: "y", other: 1 });
    for (const field of ["student_id", "amount", "term", "other"]) expect(error).toContain(`"${field}"`);
  });

  test("are refused too where the schema names a dialect or an id of its own", () => {
    const dialect = { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "pay", ...parameters };
    const other = { ...dialect, required: ["student_id", "amount"] };
    expect(refusal({}, { ...spec, parameters: dialect }).error).toContain('"student_id" is missing');
    expect(refusal({ student_id: "S1234" }, { ...spec, parameters: other }).error).toContain('"amount" is missing');
  });
});

describe("arguments that are no JSON object", () => {
  test.each([
    '{"student_id": "S1',
    "student_id=S1234",
    "{'student_id': 'S1234'}",
    '{"student_id":"S1234"}{"x":1}',
    "[]",
    "null",
    '"S1234"',
    "12",
    "NaN",
  ])("are malformed: %s", (text) => {
    const { error, isError, fault } = refusal(text);
    expect({ isError, fault }).toEqual({ isError: true, fault: "malformed_arguments" });
    expect(error).toContain("pay");
    expect(error).toContain("student_id (string, required)");
  });

  test("no text at all means no arguments", () => {
    const open = { ...spec, parameters: { type: "object", properties: {} } };
    for (const text of ["", "  \n", "{}"]) expect(checkArguments(open, text)).toEqual({ ok: true, value: {} });
    expect(refusal("[", open).error).toContain("It takes no arguments.");
  });
});

test("arguments that pass come out as they were, defaults and types untouched", () => {
  const args = { student_id: "S1234", amount: 10.5, note: null, doses: [{ vaccine: "MMR" }], confirm: false };
  expect(checkArguments(spec, JSON.stringify(args))).toEqual({ ok: true, value: args });
});

test("a schema that is itself broken rejects nothing but what is no object", () => {
  const broken = { ...spec, parameters: { type: "nonsense", properties: { a: { pattern: "(" } } } };
  expect(checkArguments(broken, '{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(refusal("[]", broken).fault).toBe("malformed_arguments");
});

test("whatever a model emits, the answer is a result and never an exception", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const checked = checkArguments(spec, text);
      if (!checked.ok) expect(JSON.parse(checked.result.content)).toHaveProperty("error");
    }),
  );
});

test("an unknown tool is answered with the names that exist and the nearest of them", () => {
  const { content, isError, fault } = unknownTool("get_corse", ["get_course", "pay"]);
  expect({ isError, fault }).toEqual({ isError: true, fault: "unknown_tool" });
  expect(JSON.parse(content)).toEqual({
    error: 'There is no tool named "get_corse"; did you mean "get_course"? Available tools: get_course, pay.',
  });
  expect(unknownTool("x", []).content).toContain("No tools are available.");
});

test("a schema's exact numbers check as numbers, and are shown as they were written", () => {
  const parameters = parseExact(
    '{"type":"object","properties":{"id":{"enum":[12345678901234567890]},"share":{"maximum":1.0},"any":{"maximum":1e400}}}',
  ) as JsonObject;
  const exact = { ...spec, parameters };
  expect(checkArguments(exact, '{"id":12345678901234567890,"share":0.5,"any":7}').ok).toBe(true);
  const { content } = refusal('{"share":2}', exact);
  expect(content).toContain("must be <= 1");
  expect(content).toContain("id (12345678901234567890)");
});

test("a number beyond JavaScript's is a number, and greater than any other", () => {
  const numbers = { a: { type: "number" }, b: { type: "number", maximum: 5 } };
  const huge = { ...spec, parameters: { type: "object", properties: numbers } };
  expect(checkArguments(huge, '{"a":-1e400,"b":-1E999}')).toMatchObject({ value: { a: -Number.MAX_VALUE } });
  expect(refusal('{"b":1e400}', huge).content).toContain("must be <= 5");
});
