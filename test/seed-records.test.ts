import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { PROGRESS, type WorkFolder, workFolder } from "./support/cli.ts";
import { itemQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const MESSAGES = [
  { role: "user", content: "Hello." },
  {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "c", type: "function", function: { name: "find_item", arguments: "{}" } }],
  },
  { role: "tool", content: "{}", tool_call_id: "c" },
  { role: "assistant", content: "Here." },
];

/** As the original writes them: metadata at the top level, its own stop reasons, a space after each colon. */
function original(id: string, metadata: object): string {
  const record = { id, messages: MESSAGES, success: true, error: null, ...metadata };
  return `${JSON.stringify(record).replaceAll('":', '": ').replaceAll(',"', ', "')}\n`;
}

const STOPPED = { stopped: true, transferred: false, out_of_scope: false, total_turns: 1, stop_reason: "user_token" };
const CONFIG = "base_path: shop\ndatasets:\n  Domain1: {output_path: outputs/old.jsonl}\n";
const RUN = ["run", "--config", "run.yml", ...SCRIPTED];

function withRecords(work: WorkFolder, records: string): void {
  work.write("run.yml", CONFIG);
  work.write("outputs/old.jsonl", records);
}

test("records of the original in output_path are kept by their ids, and the rest is made after them", async () => {
  const work = workFolder();
  const { id: _, ...nameless } = itemQuery("q4");
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2"), nameless as never] });
  const md5 = createHash("md5").update("Hello, this is q4.").digest("hex");
  const before = original("q1", STOPPED) + original(md5, { reached_max_turns: true, total_turns: 20 });
  withRecords(work, before);
  const dry = await work.run([...RUN, "--dry-run"]);
  expect(dry.stdout).toMatch(/\nDomain1 +3 +3 +2 /);
  const run = await work.run(RUN);
  expect([run.code, run.stderr.replace(PROGRESS, "")]).toEqual([0, ""]);
  expect(run.stdout).toMatch(/Domain1 +3 +user_stop 2, max_turns 1/);
  expect(run.stdout).toContain("One of them: q2");
  expect(work.read("outputs/old.jsonl").startsWith(before)).toBe(true);
  expect(work.records("outputs/old.jsonl").map(({ id }) => id)).toEqual(["q1", md5, "q2"]);
  for (const command of [["report"], ["status"], ["show"], ["stats"], ["eval"]]) {
    const { code, stderr } = await work.run([...command, "outputs/run"]);
    expect([command, code, stderr.replace(PROGRESS, "")]).toEqual([command, 0, ""]);
  }
});

test.each([
  [
    "a record of another dataset",
    original("q9", STOPPED),
    /^outputs\/old\.jsonl:2: the record "q9" belongs to no query of dataset "Domain1"/,
  ],
  ["a line that is no record", '{"text": "mine"}\n', /^outputs\/old\.jsonl:2: this line is no record with an id/],
])("%s in output_path is refused before the run, with its line, and nothing is written", async (_, line, complaint) => {
  const work = workFolder();
  writeShop(work);
  withRecords(work, original("q1", STOPPED) + line);
  for (const more of [[], ["--dry-run"]]) {
    const { code, stdout, stderr } = await work.run([...RUN, ...more]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(complaint);
  }
  expect(work.read("outputs/old.jsonl")).toBe(original("q1", STOPPED) + line);
  expect(work.has("outputs/run")).toBe(false);
});

test("stats and --stop-reason read the original's top-level stop_reason, under its names and under ours", async () => {
  const work = workFolder();
  const records = [
    original("a", STOPPED),
    original("b", { ...STOPPED, stopped: false, transferred: true }),
    original("c", { reached_max_turns: true, total_turns: 20 }),
    original("d", { ...STOPPED, stop_reason: "max_no_tool_turns" }),
  ];
  work.write("old.jsonl", records.join(""));
  const stats = JSON.parse((await work.run(["stats", "old.jsonl", "--json"])).stdout);
  expect(stats.stop_reasons).toEqual({ user_stop: 1, user_transfer: 1, max_turns: 1, max_no_tool_turns: 1 });
  const ids = async (reason: string) => {
    const out = `${reason}.jsonl`;
    await work.run(["export", "old.jsonl", "--format", "jsonl", "--stop-reason", reason, "--out", out]);
    return work.records<{ id: string }>(out).map(({ id }) => id);
  };
  expect(await ids("user_token")).toEqual(["a", "b"]);
  expect(await ids("user_stop")).toEqual(["a"]);
  expect(await ids("max_turns")).toEqual(["c"]);
});
