import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { UsageError } from "../core/index.ts";
import { registryFileSchema } from "../models/index.ts";
import { checkYaml, openYaml, readYaml } from "./read-yaml.ts";
import { configSchema } from "./schema.ts";

const complaint = (text: string, schema: z.ZodType = configSchema): string => {
  try {
    checkYaml(text, "c.yml", schema);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "(accepted)";
};

const DATASET = "datasets:\n  Shop:\n";

test.each([
  ["max_worker: 3", 'c.yml:1:1: unknown key "max_worker"; did you mean "max_workers"?'],
  [
    "resume: true\nmonitor_judge_mod: x",
    'c.yml:2:1: unknown key "monitor_judge_mod"; did you mean "monitor_judge_model"?',
  ],
  [`${DATASET}    output-path: x`, 'c.yml:3:5: datasets.Shop: unknown key "output-path"; did you mean "output_path"?'],
  [
    `${DATASET}    agent:\n      modell: x`,
    'c.yml:4:7: datasets.Shop.agent: unknown key "modell"; did you mean "model"?',
  ],
  [
    `${DATASET}    agent: {guidelines_file: x}`,
    'c.yml:3:13: datasets.Shop.agent: unknown key "guidelines_file"', // only a user has guidelines
  ],
  ["models: {m: {api_bse: x}}", 'c.yml:1:14: models.m: unknown key "api_bse"; did you mean "api_base"?'],
  [
    "auto_discover: {base_path: x, min_domain: 2}",
    'c.yml:1:31: auto_discover: unknown key "min_domain"; did you mean "min_domains"?',
  ],
  ["zzz: 1", 'c.yml:1:1: unknown key "zzz"'],
])("an unknown key is told with its place and the nearest known one: %j", (text, expected) => {
  expect(complaint(text)).toBe(expected);
});

test.each([
  ["max_workers: many", 'c.yml:1:14: max_workers must be a number, not "many"'],
  ["max_workers: 1.5", "c.yml:1:14: max_workers must be a whole number, not 1.5"],
  ["max_workers: 0", "c.yml:1:14: max_workers must be more than 0, not 0"],
  ["resume: maybe", 'c.yml:1:9: resume must be true or false, not "maybe"'],
  ["log_file: [a]", 'c.yml:1:11: log_file must be text, not ["a"]'],
  ["mode: postive", 'c.yml:1:7: mode must be one of "positive", "wrong_tool", "no_tool", not "postive"'],
  [`${DATASET}    agent: 7`, "c.yml:3:12: datasets.Shop.agent must be text or a mapping, not 7"],
  [
    `${DATASET}    agent: {temperature: hot}`,
    'c.yml:3:26: datasets.Shop.agent.temperature must be a number, not "hot"',
  ],
  [`${DATASET}    user: {top_p: 2}`, "c.yml:3:19: datasets.Shop.user.top_p must be at most 1, not 2"],
  [`${DATASET}    agent: ""`, "c.yml:3:12: datasets.Shop.agent must not be empty"],
  ["datasets: []", "c.yml:1:11: datasets must not be empty"],
  ["datasets:", "c.yml:1:10: datasets must be a mapping or a list, not null"],
  ["datasets: Shop", 'c.yml:1:11: datasets must be a mapping or a list, not "Shop"'],
  ["faults: {tools: [a]}", "c.yml:1:1: faults.rates is missing; it must be a mapping"],
  ["just words", 'c.yml:1:1: the file must be a mapping, not "just words"'],
])("a value of the wrong kind is told with its place and what was expected: %j", (text, expected) => {
  expect(complaint(text)).toBe(expected);
});

test("all mistakes are told at once, in the order of the file, each key on its own line", () => {
  const text = "zz: 1\ndatasets:\n  Shop:\n    max_turns: x\n    agent: {modell: x, temprature: 1}\nmax_workers: -1\n";
  expect(
    complaint(text)
      .split("\n")
      .map((line) => line.split(": ")[0]),
  ).toEqual(["c.yml:1:1", "c.yml:4:16", "c.yml:5:13", "c.yml:5:24", "c.yml:6:14"]);
});

test.each([
  ["a: [1\nb: 2", /^c\.yml:2:1: this is not valid YAML: /],
  ["a: 1\n\tb: 2", /^c\.yml:2:\d+: this is not valid YAML: /],
  ['a: "open', /^c\.yml:1:\d+: this is not valid YAML: /],
  ["seed: 1\nseed: 2", /^c\.yml:2:1: this is not valid YAML: this key stands here for the second time$/],
  ["seed: 1\n---\nseed: 2", /^c\.yml:2:1: this is not valid YAML: a second document begins here; one file holds one$/],
  ["seed: *nowhere", /^c\.yml:1:7: \*nowhere names nothing: there is no &nowhere before it$/],
])("broken YAML is told with line and column: %j", (text, expected) => {
  expect(complaint(text)).toMatch(expected);
});

test("an alias bomb is refused without being unfolded", () => {
  const level = (name: string, of: string) => `${name}: &${name} [${Array.from({ length: 9 }, () => of).join(",")}]\n`;
  const names = [..."abcdefghij"];
  const bomb = names.map((name, index) => level(name, index === 0 ? "lol" : `*${names[index - 1]}`)).join("");
  expect(complaint(bomb)).toBe("c.yml:10:32: this file cannot be read: the aliases (*name) unfold into far too much");
});

test.each([
  ["datasets: &a [*a]", "c.yml:1:15: *a stands inside of what it names, so it would never end"],
  ["datasets: &a {x: *a}", "c.yml:1:18: *a stands inside"],
  ["&a {datasets: [{x: *a}]}", "c.yml:1:20: *a stands inside"],
  ["models: {m: {extra_params: &a {b: &b {c: [*b, *a]}}}}", "c.yml:1:43: *b stands inside"],
  ["x: &x {seed: 1}\n<<: *x", "c.yml:2:1: merging with << is not supported"],
  ["models: {m: {extra_params: {<<: {a: 1}}}}", "c.yml:1:29: merging with << is not supported"],
  ['datasets: {1: null, "1": null}', "c.yml:1:21: this key stands here for the second time"],
  ["&k seed: 1\n*k : 2", "c.yml:2:1: a key must be a text"],
  ["datasets: {? [a, b] : null}", "c.yml:1:14: a key must be a text"],
  ["datasets: {0x10: null}", "c.yml:1:12: the key 0x10 must be a text: write it in quotes"],
  ["datasets: {~: null}", "c.yml:1:12: the key ~ must be a text: write it in quotes"],
  ["seed: !!js/function 'f'", "c.yml:1:7: Unresolved tag: tag:yaml.org,2002:js/function; tags and directives"],
  ["log_file: !!binary aGVsbG8=", "c.yml:1:11: Unresolved tag"],
  ["log_file: !secret x", "c.yml:1:11: Unresolved tag: !secret"],
  ["%YAML 9.9\n---\nseed: 1", "c.yml:1:7: Unsupported YAML version 9.9"],
  ["%YAML 1.1\n---\nresume: yes", 'c.yml:3:9: resume must be true or false, not "yes"'],
  ["seed: .nan", "c.yml:1:7: .nan cannot be used: numbers must be finite"],
  ["max_workers: 1e400", "c.yml:1:14: 1e400 cannot be used"],
  ["models: {m: {extra_params: {t: -.inf}}}", "c.yml:1:32: -.inf cannot be used"],
  ["seed: 2020-01-01", 'c.yml:1:7: seed must be a number, not "2020-01-01"'],
  ['log_file: "a\\0b"', "c.yml:1:11: there is a NUL character in this text"],
])(
  "what would be read as something else than it looks like, or never end, is refused where it stands: %j",
  (text, expected) => {
    expect(complaint(text).slice(0, expected.length)).toBe(expected);
  },
);

test.each([
  ["datasets: ", "[", "]"],
  ["datasets: ", "{a: ", "}"],
  ["datasets:\n", "- ", ""],
  ["models: {m: {extra_params: ", '{"a": [', "]}"],
])("nesting that would break a program is refused with its place, however deep: %j %j", (before, open, close) => {
  for (const depth of [200, 1000, 10_000, 100_000]) {
    const text = `${before}${open.repeat(depth)}1${close.repeat(depth)}${before.startsWith("models") ? "}}" : ""}`;
    expect(complaint(text)).toMatch(/^c\.yml:\d+:\d+: this is nested deeper than 128 levels$/);
  }
  const deep = `a: ${"[".repeat(100)}1${"]".repeat(100)}`;
  expect(checkYaml(deep, "c.yml", z.record(z.string(), z.unknown()))).toHaveProperty("a");
});

test("keys that are whole numbers stay what they are written as", () => {
  const { models } = checkYaml("models: {m: {extra_params: {logit_bias: {50256: -100}}}}", "c.yml", configSchema);
  expect(models?.m).toMatchObject({ extra_params: { logit_bias: { "50256": -100 } } });
});

test("aliases in a reasonable number work", () => {
  const text = "a: &a {x: 1}\nb: *a\nc: [*a, *a]\n";
  const schema = z.record(z.string(), z.unknown());
  expect(checkYaml(text, "c.yml", schema)).toEqual({ a: { x: 1 }, b: { x: 1 }, c: [{ x: 1 }, { x: 1 }] });
});

test.each([
  "__proto__: {polluted: true}",
  "datasets:\n  __proto__: {max_turns: 1}",
  '"__proto__": 1',
  "models: {m: {headers: {__proto__: x}}}",
])("a __proto__ key is refused where it stands and pollutes nothing: %j", (text) => {
  expect(complaint(text)).toMatch(/^c\.yml:\d+:\d+: "__proto__" cannot be used as a name here$/);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("constructor and toString are keys like any other", () => {
  expect(complaint("constructor: 1")).toBe('c.yml:1:1: unknown key "constructor"');
  expect(checkYaml("datasets: {toString: null}", "c.yml", configSchema).datasets).toEqual({ toString: null });
});

test("a registry file is checked like a config", () => {
  expect(complaint("model: {}", registryFileSchema)).toContain('unknown key "model"; did you mean "models"?');
  expect(complaint("models:\n  m: {dialect: klingon}", registryFileSchema)).toMatch(
    /^c\.yml:2:16: models\.m\.dialect must be one of "openai"/,
  );
});

test("a file gives its values, and the place of each of them", () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-yaml-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "c.yml");
  writeFileSync(file, "seed: 3\ndatasets:\n  Shop:\n    path: x.jsonl\n");
  const { value, locationOf } = openYaml(file, configSchema);
  expect(value).toMatchObject({ seed: 3, datasets: { Shop: { path: "x.jsonl" } } });
  expect(locationOf(["datasets", "Shop", "path"])).toEqual({ file, line: 4, column: 11 });
  expect(locationOf(["datasets", "Shop", "agent"])).toEqual({ file, line: 3, column: 3 }); // not there: the nearest above
  expect(() => readYaml(join(folder, "no.yml"), configSchema)).toThrow(/There is no file/);
  expect(() => readYaml(folder, configSchema)).toThrow(/is a folder, not a file/);
});

test("a complaint about a key, or about something that holds one, does not show it", () => {
  const texts = [
    "models: {a: {api_key: 86753098675}}",
    "models: {a: {api_key: [my-pass-1]}}",
    "models: {a: {headers: {X-Team: [my-pass-1]}}}",
    "models: {a: {headers: my-pass-1}}",
    "models: {a: [{api_key: my-pass-1, headers: {X: my-pass-1}}]}",
    `limit: sk-${"abcdefghijklmnopqrstuvwxyz"}0123456789`,
  ];
  for (const text of texts) {
    expect(complaint(text)).toMatch(/:1:\d+: .* must be /);
    expect(complaint(text)).not.toMatch(/my-pass|86753098675|abcdefgh/);
  }
});
