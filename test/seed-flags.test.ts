import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { lines, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const LONG = `Here it is: ${"word ".repeat(300)}end.`;

test("run takes the original's short flags; 0 as verbose_max_length cuts nothing, and --no-colors colours nothing", async () => {
  const work = workFolder();
  writeShop(work, { queries: [planQuery("q1", [{ say: LONG }, { user: "Thanks. ###STOP###" }])] });
  const config = "base_path: shop\nverbose_max_length: 0\ndatasets:\n  Domain1:\n  Other: {mcp_domain: Domain2}\n";
  work.write("run.yml", `${config}agent_model: scripted/agent\nuser_model: scripted/user\n`);
  const flags = ["run", "-c", "run.yml", "-d", "Domain1", "-r", "-v"];
  const coloured = await work.run(flags, { env: { FORCE_COLOR: "1" } });
  const plain = await work.run([...flags, "--no-colors", "--output-dir", "plain"], { env: { FORCE_COLOR: "1" } });
  expect([coloured.code, plain.code]).toEqual([0, 0]);
  expect(plain.stdout.replace(/\s+/g, " ")).toContain(LONG);
  expect(coloured.stdout).toContain("\u001b[");
  expect(plain.stdout).not.toContain("\u001b[");
});

test("--thinking and --no-thinking reach the agent, on every command that runs", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("run.yml", "base_path: shop\ndatasets:\n  Domain1: {agent: {enable_thinking: false}}\n");
  work.write("q.jsonl", lines([{ id: "a", query: "What is 1 + 1?", answer: "2" }]));
  const commands = {
    run: ["run", "-c", "run.yml"],
    single: ["single", "--domains", "Domain1", "--base-path", "shop"],
    cross: ["cross", "--all", "--base-path", "shop"],
    multi: ["multi", "--input", "q.jsonl"],
  };
  for (const [name, command] of Object.entries(commands))
    for (const flag of ["--thinking", "--no-thinking"]) {
      const folder = `${name}${flag}`;
      const run = await work.run([...command, ...SCRIPTED, flag, "--limit", "1", "--quiet", "--output-dir", folder]);
      expect([folder, run]).toEqual([folder, { code: 0, stdout: "", stderr: "" }]);
      const [dataset] = Object.values<{ parts: object }>(JSON.parse(work.read(`${folder}/manifest.json`)).datasets);
      expect([folder, dataset?.parts]).toMatchObject([
        folder,
        { "agent settings": { thinking: flag === "--thinking" } },
      ]);
    }
}, 60_000);

test("auto_discover takes every key of the original's", async () => {
  const work = workFolder();
  writeShop(work);
  const keys = [
    ...["base_path: shop", "agent_model: scripted/agent", "user_model: scripted/user", "agent_temperature: 0.3"],
    ...["user_temperature: 0.9", "enable_thinking: true", "max_turns: 4", "max_steps_per_turn: 3", "mode: no_tool"],
  ];
  const write = (...more: string[]) => work.write("auto.yml", `auto_discover: {${[...keys, ...more].join(", ")}}\n`);
  const names = async () => {
    const { code, stdout, stderr } = await work.run(["run", "-c", "auto.yml", "--dry-run"]);
    return code === 0 ? [...stdout.matchAll(/^(Domain\w+) +\d/gm)].map(([, name]) => name) : stderr;
  };
  write("filter_domains: [domain2_mcp]");
  expect(await names()).toEqual(["Domain1_Domain2"]);
  write("exclude_domains: [Domain2]");
  expect(await names()).toEqual(["Domain1"]);
  write("exclude_domains: [Domain3]");
  expect(await names()).toMatch(/^auto\.yml:1:.*There is no domain "Domain3"; did you mean/);
  write();
  expect(await names()).toEqual(["Domain1", "Domain1_Domain2"]);

  const run = await work.run(["run", "-c", "auto.yml", "--limit", "1", "--mode", "positive", "--quiet"]);
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(JSON.parse(work.read("outputs/auto/manifest.json")).datasets.Domain1.parts).toMatchObject({
    max_turns: 4,
    max_steps_per_turn: 3,
    mode: "positive",
    "agent settings": { temperature: 0.3, thinking: true },
    "user settings": { temperature: 0.9 },
  });
});

test("a generated config that was edited is written over only with --force", async () => {
  const work = workFolder();
  const make = (...more: string[]) =>
    work.run(["cross", "--generate-configs", "--bundled", "--config-output-dir", "made", ...more]);
  const { stdout } = await make();
  const [file = ""] = stdout.split("\n");
  const text = work.read(file);
  expect((await make()).code).toBe(0);
  work.write(file, `${text}# reviewed\n`);
  const refused = await make();
  expect(refused).toMatchObject({
    code: 2,
    stdout: "",
    stderr: `${file} is there already and differs: --force writes over it\n`,
  });
  expect((await make("-f")).code).toBe(0);
  expect(work.read(file)).toBe(text);
});
