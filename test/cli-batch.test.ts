import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { crossQuery, itemQuery, lines, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const SHOP = ["--base-path", "shop", ...SCRIPTED];
const SINGLE = ["single", "--domains", "Domain1", ...SHOP];

test("--list shows the bundled domains and combinations; with --verbose also tools, files and what is missing", async () => {
  const work = workFolder();
  writeShop(work);
  const [single, cross, verbose] = await Promise.all([
    work.run(["single", "--list"]),
    work.run(["cross", "--list"]),
    work.run(["single", "--list", "--verbose", "--base-path", "shop"]),
  ]);
  expect(single.stdout).toMatch(/^name +queries +tools +policy +missing\nStudentAcademicPortal +\d+ +\d+ +yes/);
  expect(cross.stdout).toContain("StudentAcademicPortal_StudentFinancialServices");
  expect(verbose.stdout).toMatch(/Domain2 +0 +1 +no +policies\/Domain2\.md, queries\/Domain2\.jsonl/);
  expect(verbose.stdout).toContain("  tool     find_item");
  expect(verbose.stdout).toContain("  policy   shop/policies/Domain1.md");
  expect(work.names()).toEqual(["shop"]);
});

test("--domains takes any spelling, and for a combination any order, whatever the order of its files", async () => {
  const work = workFolder();
  writeShop(work);
  const orders = [["Domain1", "Domain2"], ["domain2_mcp", "DOMAIN1"], ["domain-2,domain-1"]];
  const plans = await Promise.all(
    orders.map((names) => work.run(["cross", "--domains", ...names, ...SHOP, "--dry-run"])),
  );
  expect(plans.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(new Set(plans.map(({ stdout }) => stdout)).size).toBe(1);
  expect(plans[0]?.stdout).toMatch(/^dataset[^\n]*\nDomain1_Domain2 +2 +2 +0 +2 /);

  const run = await work.run(["cross", "--domains", "Domain2", "Domain1", ...SHOP, "--quiet"]);
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
  const records = work.records("outputs/cross/trajectories/Domain1_Domain2.jsonl");
  expect(records.map(({ domains, metadata }) => [domains, metadata.stop_reason])).toEqual([
    [["Domain1", "Domain2"], "user_stop"],
    [["Domain1", "Domain2"], "user_stop"],
  ]);
});

test("--limit, --ids, --seed, --mode and the models decide what is made, and every record says so", async () => {
  const work = workFolder();
  writeShop(work);
  const flags = ["--ids", "q3,q1", "--seed", "9", "--agent-model", "scripted/agent?skill=0.5", "--quiet"];
  expect((await work.run([...SINGLE, ...flags])).code).toBe(0);
  const records = work.records("outputs/single/trajectories/Domain1.jsonl");
  expect(records.map(({ id }) => id).sort()).toEqual(["q1", "q3"]);
  expect(records[0]?.metadata.models).toEqual({ agent: "scripted/agent?skill=0.5", user: "scripted/user" });
  expect(JSON.parse(work.read("outputs/single/manifest.json"))).toMatchObject({ seed: 9 });

  await work.run([...SINGLE, "--limit", "1", "--mode", "no_tool", "--output-dir", "none", "--quiet"]);
  expect(work.records("none/trajectories/Domain1.jsonl").map(({ id, metadata }) => [id, metadata.mode])).toEqual([
    ["q1", "no_tool"],
  ]);
});

test("--max-turns, --max-steps-per-turn, temperatures and --no-thinking reach the run", async () => {
  const work = workFolder();
  writeShop(work);
  const settings = ["--agent-temperature", "0.3", "--user-temperature", "0.9", "--no-thinking"];
  await work.run([...SINGLE, "--max-turns", "4", "--max-steps-per-turn", "3", ...settings, "--quiet"]);
  const manifest = JSON.parse(work.read("outputs/single/manifest.json"));
  expect(manifest.datasets.Domain1.parts).toMatchObject({
    max_turns: 4,
    max_steps_per_turn: 3,
    "agent settings": { temperature: 0.3, thinking: false },
    "user settings": { temperature: 0.9 },
  });
});

test("--generate-configs writes configs that run, and give what the flags would have given", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("more/Domain1.jsonl", lines([itemQuery("other")]));
  const flags = [...SINGLE, "--query-dir", "more", "--seed", "4", "--max-turns", "6", "--no-thinking"];
  const generated = await work.run([...flags, "--generate-configs", "--config-output-dir", "made"]);
  expect(generated).toEqual({ code: 0, stdout: "made/Domain1.yml\n", stderr: "" });
  expect(work.has("outputs")).toBe(false);
  const fromConfig = await work.run(["run", "--config", "made/Domain1.yml", "--quiet"]);
  const fromFlags = await work.run([...flags, "--output-dir", "flags", "--quiet"]);
  expect([fromConfig.code, fromFlags.code]).toEqual([0, 0]);
  const output = "outputs/Domain1/trajectories/Domain1.jsonl";
  expect(work.records(output).map(({ id }) => id)).toEqual(["other"]);
  expect(work.canonical(output)).toEqual(work.canonical("flags/trajectories/Domain1.jsonl"));
});

test("every combination gets a generated config, and each of them can be run", async () => {
  const work = workFolder();
  const { stdout } = await work.run(["cross", "--generate-configs"]);
  const files = stdout.trim().split("\n");
  expect(files.length).toBeGreaterThanOrEqual(2);
  for (const file of files) {
    const { code, stderr } = await work.run(["run", "--config", file, "--limit", "1", "--quiet"]);
    expect([file, code, stderr]).toEqual([file, 0, ""]);
  }
});

test("--merge-queries writes scattered files as one, tells repeats and clashes, and exits", async () => {
  const work = workFolder();
  writeShop(work);
  work.remove("shop/queries/Domain1_Domain2.jsonl");
  const renamed = { ...crossQuery("x1"), user_system_prompt: "You want a chair." };
  work.write("shop/queries/Domain1_Domain2/a.jsonl", lines([crossQuery("x1"), crossQuery("x2")]));
  work.write("shop/queries/Domain1_Domain2/b.jsonl", lines([crossQuery("x2"), renamed]));
  const { code, stdout } = await work.run(["cross", "--merge-queries", "--base-path", "shop"]);
  expect(code).toBe(0);
  expect(stdout).toContain("3 queries from 2 files, 1 repeats left out");
  expect(stdout).toContain('the second is "x1~2"');
  expect(work.records("shop/queries/Domain1_Domain2.jsonl").map(({ id }) => id)).toEqual(["x1", "x2", "x1~2"]);
  expect(work.has("outputs")).toBe(false);
  const again = await work.run(["cross", "--all", ...SHOP, "--dry-run"]);
  expect(again.stdout).toMatch(/Domain1_Domain2 +3 +3/);
});

test("--require-policy and --min-domains leave out what does not fit", async () => {
  const work = workFolder();
  writeShop(work);
  work.remove("shop/policies/Domain2_Domain1.md");
  const cross = (...flags: string[]) => work.run(["cross", "--all", ...SHOP, "--dry-run", ...flags]);
  const [all, withPolicy, three] = await Promise.all([cross(), cross("--require-policy"), cross("--min-domains", "3")]);
  expect(all.code).toBe(0);
  expect(withPolicy).toMatchObject({ code: 2, stdout: "" });
  expect(three).toMatchObject({ code: 2, stdout: "" });
  expect(withPolicy.stderr).toContain("There are no combinations with queries here");
});

test("./datasets of the working folder comes before the bundled domains, unless --bundled asks for those", async () => {
  const work = workFolder();
  writeShop(work, { base: "datasets/single_domain" });
  const [own, bundled] = await Promise.all([
    work.run(["single", "--list"]),
    work.run(["single", "--list", "--bundled"]),
  ]);
  expect(own.stdout).toContain("Domain1");
  expect(own.stdout).not.toContain("StudentAcademicPortal");
  expect(bundled.stdout).toContain("StudentAcademicPortal");
  const unnamed = await work.run(["single", "--all"]);
  expect(unnamed.code).toBe(2);
  expect(unnamed.stderr).toMatch(
    /No model is named for the agent\. Give --agent-model .*deepseek-v3\.2-fc.*models\.yml/,
  );
});

test("for a user's own data the usual models are taken from the registry when it holds them", async () => {
  const work = workFolder();
  writeShop(work);
  const entry = "{provider: openai, api_base: 'http://127.0.0.1:9/v1', api_key: sk-planted-key-123}";
  work.write("models.yml", `models:\n  deepseek-v3.2-fc: ${entry}\n  gpt-5: ${entry}\n`);
  const flags = ["--base-path", "shop", "--models-config", "models.yml", "--dry-run"];
  const { code, stdout, stderr } = await work.run(["single", "--domains", "Domain1", ...flags]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/openai\/deepseek-v3\.2-fc +openai\/gpt-5/);
  expect(stdout + stderr).not.toContain("sk-planted-key-123");
});

test("one number of workers or many: the records are the same in canonical form", async () => {
  const work = workFolder();
  const run = (workers: string) =>
    work.run([
      "single",
      "--domains",
      "StudentAcademicPortal",
      "--max-workers",
      workers,
      "--output-dir",
      workers,
      "--quiet",
    ]);
  await Promise.all([run("1"), run("64")]);
  const file = "trajectories/StudentAcademicPortal.jsonl";
  expect(work.canonical(`64/${file}`)).toEqual(work.canonical(`1/${file}`));
});
