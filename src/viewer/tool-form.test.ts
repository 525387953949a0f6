import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../core/index.ts";
import { fieldsOf, writeArguments } from "./tool-form.ts";

const write = (properties: JsonObject, typed: { [name: string]: string }, more: JsonObject = {}) =>
  writeArguments(fieldsOf({ type: "object", properties, ...more }) ?? [], typed);

test("numbers stay as they were typed, whatever their size or form", () => {
  const big = "900719925474099312345";
  expect(write({ a: { type: "integer" }, b: { type: "number" } }, { a: big, b: "1.0" })).toEqual({
    arguments: `{"a":${big},"b":1.0}`,
  });
  for (const wrong of ["1,5", "0x10", "NaN", "01", "1.", "--1", "one"])
    expect(write({ b: { type: "number" } }, { b: wrong })).toEqual({ problems: { b: "b must be number" } });
  expect(write({ a: { type: "integer" } }, { a: "1.5" })).toEqual({ problems: { a: "a must be whole number" } });
});

test("what is left empty is left out, unless it is needed", () => {
  const properties = { a: { type: "string" }, b: { type: "string" } };
  expect(write(properties, { a: " ", b: "x" })).toEqual({ arguments: '{"b":"x"}' });
  expect(write(properties, { b: "x" }, { required: ["a"] })).toEqual({ problems: { a: "a is needed" } });
});

test("choices keep their types, nullable and referenced schemas are what they stand for", () => {
  const schema = {
    properties: {
      size: { enum: ["1", 1, true, null] },
      only: { const: "x" },
      maybe: { anyOf: [{ $ref: "#/$defs/Size" }, { type: "null" }], description: "said here" },
      both: { anyOf: [{ type: "string" }, { type: "number" }] },
      loop: { $ref: "#/properties/loop" },
      gone: { $ref: "#/nowhere" },
      elsewhere: { $ref: "https://example.com/schema" },
      anything: true,
    },
    $defs: { Size: { type: "integer" } },
  };
  const fields = fieldsOf(schema as unknown as JsonObject);
  const kinds = Object.fromEntries((fields ?? []).map(({ name, kind }) => [name, kind]));
  expect(kinds).toEqual({
    size: "choice",
    only: "choice",
    maybe: "integer",
    both: "json",
    loop: "json",
    gone: "json",
    elsewhere: "json",
    anything: "json",
  });
  expect(fields?.find(({ name }) => name === "maybe")?.description).toBe("said here");
  expect(writeArguments(fields ?? [], { size: "true", only: "x", both: '"7"' })).toEqual({
    arguments: '{"size":true,"only":"x","both":"7"}',
  });
});

test("lists are one item in each line or a JSON array; nested ones and objects are JSON", () => {
  const properties: JsonObject = {
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    rows: { type: "array", items: { type: "array", items: { type: "integer" } } },
    at: { type: "object" },
  };
  expect(write(properties, { tags: "a, b\n\n c ", sizes: "[1, 2]", rows: "[[1]]", at: '{"x": 1.0}' })).toEqual({
    arguments: '{"tags":["a, b","c"],"sizes":[1, 2],"rows":[[1]],"at":{"x": 1.0}}',
  });
  expect(write(properties, { sizes: "1\ntwo", at: "{x}" })).toMatchObject({
    problems: { sizes: "sizes must be whole number", at: expect.stringContaining("at must be JSON: ") },
  });
});

test("a schema that says nothing of its parameters is written as JSON; one without any takes none", () => {
  expect(fieldsOf({ type: "object", additionalProperties: { type: "string" } })).toBeUndefined();
  expect(fieldsOf({ properties: { a: {} }, oneOf: [{ required: ["a"] }] })).toBeUndefined();
  expect(fieldsOf({ type: "object" })).toEqual([]);
  expect(fieldsOf({})).toEqual([]);
});

test("any text arrives as it was typed, under any name", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: "grapheme" }), (name, text) => {
      fc.pre(text.trim() !== "" && name !== "__proto__");
      const written = write({ [name]: { type: "string" } }, { [name]: text });
      expect("arguments" in written && JSON.parse(written.arguments)).toEqual({ [name]: text });
    }),
  );
});

test("a field may be called what every object has", () => {
  const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as JsonObject;
  const required = ["__proto__", "constructor"];
  const { problems } = write(properties, {}, { required }) as { problems: object };
  expect(Object.entries(problems)).toEqual(required.map((name) => [name, `${name} is needed`]));
  const typed = JSON.parse('{"__proto__":"a","constructor":"b"}') as { [name: string]: string };
  expect(write(properties, typed, { required })).toEqual({ arguments: '{"__proto__":"a","constructor":"b"}' });
});
