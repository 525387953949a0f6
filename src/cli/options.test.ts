import { Command } from "commander";
import { expect, test } from "vitest";
import { addRunOptions, commandLine, overridesFrom, type RunFlags } from "./options.ts";

function parse(...words: string[]): RunFlags {
  const command = addRunOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  return command.parse(words, { from: "user" }).opts();
}

test("flags that were not given override nothing", () => {
  const { retryFailed, ...overrides } = overridesFrom(parse("--quiet", "--verbose", "--dry-run"));
  expect(overrides).toEqual({});
  expect(retryFailed).toBe(true);
});

test("every flag of a run reaches it", () => {
  const words =
    "--agent-model a --user-model u --max-workers 3 --output-dir o --limit 4 --ids x,,y --seed 5 --mode no_tool";
  const more =
    "--max-cost 1.5 --max-tokens-total 99 --python .venv --bundled --no-resume --allow-drift --no-retry-failed";
  expect(overridesFrom(parse(...words.split(" "), ...more.split(" ")))).toEqual({
    agentModel: "a",
    userModel: "u",
    maxWorkers: 3,
    outputDir: "o",
    limit: 4,
    ids: ["x", "y"],
    seed: 5,
    mode: "no_tool",
    maxCost: 1.5,
    maxTokensTotal: 99,
    python: ".venv",
    bundled: true,
    resume: false,
    allowDrift: true,
    retryFailed: false,
  });
});

test("--resume wins over a config's resume: false", () => {
  expect(overridesFrom(parse("--resume")).resume).toBe(true);
});

test("the command for going on is the one that was given, quoted for a shell, less what starts a run beside", () => {
  const flags = parse(
    "--ids",
    "a,b",
    "--agent-model",
    "scripted/agent?skill=0.7",
    "--output-dir",
    "it's here",
    "--no-resume",
  );
  expect(commandLine("run", { config: "c.yml", ...flags })).toBe(
    "rollout run --config c.yml --ids a,b --agent-model 'scripted/agent?skill=0.7' --output-dir 'it'\\''s here'",
  );
  expect(commandLine("single", { domains: ["A", "B"], thinking: false, retryFailed: false })).toBe(
    "rollout single --domains A B --no-thinking --no-retry-failed",
  );
});

test.each([
  ["--max-cost", "0"],
  ["--max-cost", "free"],
  ["--seed", "-1"],
  ["--limit", "1e999"],
])("%s %s is refused while it is parsed", (flag, value) => {
  expect(() => parse(flag, value)).toThrow(/It must be/);
});
