import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { configJsonSchema, readYaml } from "../src/config/index.ts";
import { configSchema } from "../src/config/schema.ts";
import { registryFileSchema } from "../src/models/index.ts";

const file = (name: string) => fileURLToPath(new URL(`../configs/${name}`, import.meta.url));

test("configs/rollout.schema.json is in step with the schema (npx tsx scripts/make-schema.ts writes it)", () => {
  expect(JSON.parse(readFileSync(file("rollout.schema.json"), "utf8"))).toEqual(
    JSON.parse(JSON.stringify(configJsonSchema())),
  );
});

test("the JSON Schema takes the configs that the program takes, and refuses what it refuses", () => {
  const validate = new Ajv2020({ strict: false }).compile(configJsonSchema());
  for (const text of [
    readFileSync(file("example.yml"), "utf8"),
    "datasets: [A]",
    "datasets: {A: null, B: {agent: x, user: {model: y, thinking: {type: enabled}}}}",
    "max_worker: 1",
    "datasets: {A: {agent: {modell: x}}}",
    "datasets: {A: {mode: postive}}",
    "max_workers: 0",
    "log_level: LOUD",
  ]) {
    const value: unknown = parse(text);
    expect([text, validate(value)]).toEqual([text, configSchema.safeParse(value).success]);
  }
});

test("configs/models.yml is a valid registry", () => {
  expect(Object.keys(readYaml(file("models.yml"), registryFileSchema).models)).toContain("deepseek-v3.2-fc");
});
