// `rollout replay` as a person uses it: what is printed, and the exit codes.
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { single, untilStopping, type WorkFolder, workFolder } from "./support/cli.ts";
import { itemQuery, lines, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const FILE = "out/trajectories/StudentHealthServices.jsonl";
const SHOP = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED, "--output-dir", "out", "--quiet"];
const SHOP_FILE = "out/trajectories/Domain1.jsonl";

/** One character of the record's first result becomes another. */
function spoil(work: WorkFolder, file: string, index: number): string {
  const records = work.records(file);
  const record = records[index] as Trajectory;
  const message = record.messages.find(({ role }) => role === "tool") as { content: string };
  message.content = `${message.content.slice(0, -1)}!`;
  work.write(file, lines(records));
  return record.id;
}

test("a run that agrees ends with 0, nothing is written, and a moved run is still found", async () => {
  const work = workFolder();
  await work.run(single("--limit", "4", "--rollouts", "2", "--agent-model", "scripted/agent?skill=0.5"));
  const files = () => readdirSync(join(work.path, "out"), { recursive: true }).sort();
  const before = [files(), readFileSync(join(work.path, FILE), "utf8")];
  const { code, stdout, stderr } = await work.run(["replay", "out"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^out: 8 records, \d+ calls made again: all agree\n$/);
  expect([files(), readFileSync(join(work.path, FILE), "utf8")]).toEqual(before);
  renameSync(join(work.path, "out"), join(work.path, "moved"));
  const [first] = work.records("moved/trajectories/StudentHealthServices.jsonl");
  const chosen = await work.run(["replay", "moved", "--ids", `${first?.query_id}`, "--json", "--max-workers", "1"]);
  expect([chosen.code, JSON.parse(chosen.stdout)]).toMatchObject([0, { folder: "moved", records: { agree: 2 } }]);
});

test("a difference ends with 3 and is shown; the others are counted; every named run is replayed", async () => {
  const work = workFolder();
  await work.run(single("--limit", "3"));
  await work.run(single("--limit", "2", "--output-dir", "good"));
  spoil(work, FILE, 2);
  const id = spoil(work, FILE, 1);
  const { code, stdout } = await work.run(["replay", "out", "good"]);
  expect(code).toBe(3);
  const [head, , first, args, recorded, now, , , all, last] = stdout.split("\n");
  expect(head).toMatch(/^out: 3 records, \d+ calls made again: 1 agree; 2 differ$/);
  expect(first).toMatch(new RegExp(`^The first: ${id} of StudentHealthServices, call 1, \\w+$`));
  expect(args).toMatch(/^ {2}arguments {2}\{.*\}$/);
  expect([recorded, now].map((line) => [line?.slice(0, 13), line?.at(-1)])).toEqual([
    ["  recorded   ", "!"],
    ["  now        ", "}"],
  ]);
  expect(all).toBe("  StudentHealthServices  results differ  2");
  expect(last).toMatch(/^good: 2 records, .*all agree$/);
  const json = (await work.run(["replay", "out", "good", "--json"])).stdout.trim().split("\n");
  expect(json.map((line) => JSON.parse(line))).toMatchObject([
    { records: { agree: 1, differ: 2 }, first: { id, kind: "result", call: 1 } },
    { records: { agree: 2 }, differences: [] },
  ]);
});

test("of a state only hashes are compared, and that is said", async () => {
  const work = workFolder();
  await work.run(single("--limit", "1"));
  work.write(FILE, work.read(FILE).replace(/("final_state_hash":")\w{4}/, "$1zzzz"));
  const { code, stdout } = await work.run(["replay", "out"]);
  expect(code).toBe(3);
  expect(stdout).toMatch(/recorded +zzzz\w{12} \(a record holds only a hash of its state/);
  expect(stdout).toMatch(/StudentHealthServices +final states differ +1/);
});

test("a run that was cut off: only records count, and a torn last line is left out and named", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2", "slow"), itemQuery("q3")] });
  work.write("slow", "");
  const { child, finished } = work.start([...SHOP, "--max-workers", "1"]);
  await work.until("waiting");
  await vi.waitFor(() => expect(work.records(SHOP_FILE)).toHaveLength(1), { timeout: 30_000 });
  child.kill("SIGKILL");
  await finished;
  expect((await work.run(["replay", "out"])).stdout).toBe("out: 1 records, 1 calls made again: all agree\n");
  work.write(SHOP_FILE, `${work.read(SHOP_FILE)}${work.read(SHOP_FILE).slice(0, 80)}`);
  const torn = await work.run(["replay", "out"]);
  expect(torn).toMatchObject({ code: 0, stdout: "out: 1 records, 1 calls made again: all agree\n" });
  expect(torn.stderr).toContain("Domain1.jsonl: the last line is not complete and is left out");
});

test("Ctrl-C ends after the records under way, with 130 and what was found; long replays say how far they are", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1", "slow"), itemQuery("q2", "slow"), itemQuery("q3")] });
  await work.run([...SHOP, "--max-workers", "1"]);
  work.write("slow", "");
  const { child, finished } = work.start(["replay", "out", "--max-workers", "1"]);
  await work.until("waiting");
  await new Promise((resolve) => setTimeout(resolve, 2100));
  child.kill("SIGINT");
  await untilStopping(child);
  work.remove("slow");
  const { code, stdout, stderr } = await finished;
  expect([code, stdout]).toEqual([
    130,
    "out: 1 records, 1 calls made again: all agree\nStopped; 2 records were not replayed\n",
  ]);
  expect(stderr).toBe("Stopping after the records that are being replayed.\n1 of 3 records replayed\n");
});

test("wrong usage ends with 2 and one clear line", async () => {
  const work = workFolder();
  await work.run(single("--limit", "1"));
  work.write("empty/file", "");
  const [record] = work.records(FILE);
  await work.run(single("--limit", "1", "--output-dir", "broken"));
  work.write("broken/trajectories/StudentHealthServices.jsonl", `${work.read(FILE)}{"id": \n`);
  const cases: [string[], string][] = [
    [["replay"], "missing required argument"],
    [["replay", "nowhere"], "There is no folder nowhere"],
    [["replay", "out", "empty"], "empty is not a run folder"],
    [["replay", "out", "--ids", "nobody"], 'There is no record "nobody"'],
    [["replay", "out", "--ids", `${record?.id}x`], `did you mean "${record?.id}"`],
    [["replay", "out", "--dataset", "Nothing"], "There are: StudentHealthServices"],
    [["replay", "out", "--max-workers", "0"], "at least 1"],
    [["replay", "broken"], "StudentHealthServices.jsonl:2:8: is not valid JSON"],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await work.run(args);
    expect([args, code, stdout, stderr]).toEqual([args, 2, "", expect.stringContaining(message)]);
  }
});
