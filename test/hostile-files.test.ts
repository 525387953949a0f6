import { beforeEach, describe, expect, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { itemQuery, lines, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const RUN = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
const DEEP = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
const CYCLE = "datasets: &a [*a]\nmodels: *a\nmcpServers: *a\nchecks: *a\n";

let work: WorkFolder;
beforeEach(() => {
  work = workFolder();
  writeShop(work);
});

/** The command fails as a usage error that begins with this, and without a trace of our own code. */
async function expectRefusal(args: string[], beginning: RegExp): Promise<void> {
  const { code, stderr, stdout } = await work.run(args);
  expect(stderr + stdout).not.toMatch(/bug in rollout|RangeError|TypeError|^ +at /m);
  expect([code, stderr]).toEqual([2, expect.stringMatching(beginning)]);
}

const CONFIG = ["run", "--config", "bad.yml", "--dry-run"];
const OTHERS = [
  [...RUN, "--models-config", "bad.yml"],
  ["models", "show", "x", "--models-config", "bad.yml"],
  ["run", "--config", "mcp.yml"],
  ["eval", "out", "--rules", "bad.yml"],
  ["check", "bad.yml"],
];

test.each([
  ["an alias inside of what it names", CYCLE, /:1:15: \*a stands inside of what it names/, [CONFIG, ...OTHERS]],
  ["lists nested 10,000 deep", `{"datasets": ${DEEP}}`, /:1:\d+: this is nested deeper/, [CONFIG, ...OTHERS]],
  ["100 MB", `# ${"x".repeat(100)}\n`.repeat(1_000_000), /: is too large: 103 MB/, [CONFIG]],
  ["a NUL", "seed: 1\nlog_file: a\0b\n", /:2:12: there is a NUL character here/, [CONFIG]],
])("a YAML file with %s is refused by every command that reads one", async (_, text, complaint, commands) => {
  work.write("bad.yml", text);
  work.write("mcp.yml", "datasets: {d: {path: shop/queries/Domain1.jsonl}}\nmcp_config_file: bad.yml\n");
  work.write("out/manifest.json", '{"format_version": 2, "datasets": {}, "config": {}}');
  const beginning = new RegExp(`^\\S*bad\\.yml${complaint.source}`);
  await Promise.all(commands.map((args) => expectRefusal(args, beginning)));
});

describe("files of a dataset", () => {
  test.each([
    [
      "queries/Domain1.jsonl",
      `${lines([itemQuery("q1")])}{"id": "q2", "task_info": {"a": ${DEEP}}}\n`,
      /:2:\d+: is nested deeper/,
    ],
    ["tool_lists/Domain1.json", `\n${DEEP}`, /:2:129: is nested deeper/],
    ["database/outputs/entities/Item.json", `[{"item_id": "a", "more": ${DEEP}}]`, /:1:\d+: is nested deeper/],
    ["policies/Domain1.md", "Help.\nWith\0items.\n", /:2:5: there is a NUL character here/],
  ])("%s that would break the program is refused by its name and place", async (file, text, complaint) => {
    work.write(`shop/${file}`, text);
    const beginning = new RegExp(`${file.replaceAll(".", "\\.")}${complaint.source}`);
    await expectRefusal(RUN, beginning);
    expect(work.has("outputs")).toBe(false);
    const { code, stdout, stderr } = await work.run(["check", "shop"]);
    expect([code, stdout + stderr]).toEqual([expect.any(Number), expect.stringMatching(beginning)]);
    expect(code).not.toBe(1);
  });

  test("a prompt with a NUL is refused too", async () => {
    work.write("prompt.md", "Be\nkind\0.\n");
    work.write(
      "run.yml",
      "base_path: shop\ndatasets: {Domain1: {agent: {model: scripted/agent, system_prompt_file: prompt.md}}}\n",
    );
    await expectRefusal(["run", "--config", "run.yml"], /prompt\.md:2:5: there is a NUL character here/);
  });
});
