import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { call, itemQuery, lines, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const found = (reference: string) =>
  planQuery("q2", [
    { steps: [call("find_item", { name: "lamp" })], say: `It is ${reference}.` },
    { user: "###STOP###" },
  ]);

test("a mistyped {{reference}} of a plan is found before the run and by check, with file and line", async () => {
  const cases = [
    ["{{find_item.item_id}}", undefined],
    ["{{find_itm.item_id}}", 'the plan\'s {{find_itm.item_id}} names no call before it; did you mean "find_item"?'],
    ["{{find_item#2.item_id}}", "the plan's {{find_item#2.item_id}} names no call before it"],
    ["{{find_item.item_idd}}", "the plan's {{find_item.item_idd}} is not in the result of find_item: {"],
  ] as const;
  for (const [reference, complaint] of cases) {
    const work = workFolder();
    writeShop(work, { queries: [itemQuery("q1"), found(reference)] });
    const run = await work.run(["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED, "--quiet"]);
    const check = await work.run(["check", "shop"]);
    if (!complaint) {
      expect([run.code, check.code]).toEqual([0, 0]);
      continue;
    }
    expect([reference, run.code, check.code]).toEqual([reference, 2, 2]);
    expect(run.stderr).toContain(`shop/queries/Domain1.jsonl:2: ${complaint}`);
    expect(check.stdout).toContain(`shop/queries/Domain1.jsonl:2: Domain1: ${complaint}`);
    expect(work.names()).toEqual(["shop"]);
  }
}, 60_000);

test("a mistyped {policy} or {scenario} is found before the run, with the line of the prompt; other braces are text", async () => {
  const work = workFolder();
  writeShop(work);
  const config = (agent: string) =>
    work.write(
      "run.yml",
      `base_path: shop\ndatasets:\n  Domain1:\n    agent:\n      model: scripted/agent\n${agent}    user: scripted/user\n`,
    );
  const plan = async () => {
    const { code, stderr } = await work.run(["run", "--config", "run.yml", "--dry-run"]);
    return [code, stderr];
  };
  config('      system_prompt: |\n        Be kind, as in {"a": {b}}.\n        {polcy}\n');
  expect(await plan()).toEqual([
    2,
    "run.yml:8:9: {polcy} stands for nothing in the prompt of the agent; write {policy}\n",
  ]);
  config("      system_prompt_file: prompt.md\n");
  for (const wrong of ["{{policy}}", "{scenario}", "{ policy }"]) {
    work.write("prompt.md", `Be kind.\n\nThe rules: ${wrong}\n`);
    expect(await plan()).toEqual([2, expect.stringContaining(`prompt.md:3:12: ${wrong} stands for nothing`)]);
  }
  work.write("prompt.md", "Be kind to {name}. {policy}\n");
  expect(await plan()).toEqual([0, ""]);
});

test("an unset variable is found before the run, with the file and line that name it", async () => {
  const work = workFolder();
  writeShop(work);
  const entry =
    "provider: openai\n    api_base: http://127.0.0.1:1/v1\n    # $" +
    "{SEED_UNSET}\n    api_key: $" +
    "{SEED_UNSET}\n";
  work.write("my/models.yml", `models:\n  mine:\n    ${entry}`);
  const flags = ["--base-path", "shop", "--agent-model", "openai/mine", "--user-model", "scripted/user"];
  const registry = await work.run(["single", "--domains", "Domain1", ...flags, "--models-config", "my/models.yml"]);
  expect([registry.code, registry.stderr]).toEqual([
    2,
    'my/models.yml:6:14: model "openai/mine", api_key: the environment variable SEED_UNSET is not set\n',
  ]);
  const server = 'mcpServers:\n  tools:\n    url: http://127.0.0.1:1/mcp\n    headers: {X-Key: "$' + '{SEED_UNSET}"}\n';
  work.write("q.jsonl", lines([itemQuery("q1")]));
  work.write("run.yml", `${server}datasets:\n  Mine: {path: q.jsonl}\n`);
  const mcp = await work.run(["run", "--config", "run.yml", ...SCRIPTED]);
  expect([mcp.code, mcp.stderr]).toEqual([2, expect.stringMatching(/^run\.yml:4:23: .*SEED_UNSET is not set/)]);
  expect(work.has("outputs")).toBe(false);
});
