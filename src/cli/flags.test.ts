import { Command } from "commander";
import { expect, test } from "vitest";
import { listFlags } from "../config/index.ts";
import { addRunFlags, toPatch } from "./flags.ts";

function parse(...words: string[]) {
  const command = addRunFlags(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  return toPatch(command.parse(words, { from: "user" }));
}

test("flags that were not given patch nothing", () => {
  expect(parse("--quiet", "--dry-run")).toEqual({});
});

test("every flag of a run is a key of the config, with a value of the key's type", () => {
  const words =
    "--agent-model a --user-model u --max-workers 3 --output-dir o --limit 4 --ids x,,y --seed 5 --mode no_tool";
  const more =
    "--max-cost 1.5 --max-tokens-total 99 --python .venv --bundled --no-resume --allow-drift --no-retry-failed --no-thinking --eval --verbose --models-config m.yml";
  expect(parse(...words.split(" "), ...more.split(" "))).toEqual({
    agent_model: "a",
    user_model: "u",
    max_workers: 3,
    output_dir: "o",
    limit: 4,
    ids: ["x", "y"],
    seed: 5,
    mode: "no_tool",
    max_cost: 1.5,
    max_tokens_total: 99,
    python: ".venv",
    bundled: true,
    resume: false,
    allow_drift: true,
    retry_failed: false,
    enable_thinking: false,
    eval: true,
    verbose: true,
    models_config_file: "m.yml",
  });
  expect(parse("--resume", "--thinking")).toEqual({ resume: true, enable_thinking: true });
});

test("the original's short flags and --no-colors mean the same keys", () => {
  expect(parse("-d", "Mix", "-r", "-v", "--no-colors")).toEqual({
    dataset: "Mix",
    resume: true,
    verbose: true,
    verbose_colors: false,
  });
});

test("every flag has a sentence, and every default that a flag shows is the config's own", () => {
  const help = addRunFlags(new Command()).helpInformation();
  for (const { schema, sentence = schema.description } of listFlags()) expect(sentence).toBeTruthy();
  expect(help.replace(/\s+/g, " ")).toContain("rollouts at once, within and across datasets (default: 8)");
});

test("help shows the flags in groups, and none outside them but help itself", () => {
  const help = addRunFlags(new Command("x")).helpInformation();
  const headings = [...help.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(["Input", "Models", "Limits", "How it runs", "Output", "Options"]);
  const groupOf = (flag: string) =>
    headings.findLast((heading) => help.indexOf(`\n${heading}:`) < help.indexOf(`  ${flag} `));
  const flags = ["--limit", "--agent-model", "--models-config", "--max-turns", "--max-cost", "--seed", "--output-dir"];
  expect(flags.map(groupOf)).toEqual(["Input", "Models", "Models", "Limits", "Limits", "How it runs", "Output"]);
  expect(groupOf("-h, --help")).toBe("Options");
});

test("a run that is resumed takes every flag but its folder's, and promises no defaults", () => {
  const namesOf = (command: Command) => command.options.map(({ long }) => long);
  const fresh = namesOf(addRunFlags(new Command()));
  const resumed = addRunFlags(new Command(), { of: "run" });
  expect(fresh.filter((name) => !namesOf(resumed).includes(name)).sort()).toEqual(["--output-dir"]);
  expect(resumed.helpInformation()).not.toContain("default: 8");
});

test.each([
  ["--max-cost", "0", "a number above 0"],
  ["--max-cost", "free", "a number above 0"],
  ["--max-tokens-total", "1.5", "a whole number of at least 1"],
  ["--limit", "", "a whole number of at least 1"],
  ["--seed", "-1", "a whole number of at least 0"],
])("a value that is none of the key's is refused with what it must be: %s %s", (flag, value, expected) => {
  expect(() => parse(`${flag}=${value}`)).toThrow(expected);
});
