import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { contentHash, type RunEvent, type Trajectory, UsageError } from "../core/index.ts";
import { keyText } from "./finished.ts";
import { FORMAT_VERSION, type Manifest, readManifest } from "./manifest.ts";
import { defaultOutput } from "./rounds.ts";
import { findFreePath, RunFolder, type RunFolderOptions } from "./run-folder.ts";

const root = mkdtempSync(join(tmpdir(), "rollout-run-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;
let path = "";
beforeEach(() => {
  path = join(root, String(++made));
});

const open = (more: Partial<RunFolderOptions> = {}) =>
  new RunFolder({ path, sync: "never", checkpoints: true, ...more });
const lines = (file: string) => readFileSync(join(path, file), "utf8").split("\n").slice(0, -1);
const key = { dataset: "Clinic", queryId: "q", rollout: 0 };
const at = "2026-02-10T09:00:00.000Z";
const start: RunEvent = { type: "rollout-start", ...key, at, attempt: 1, fingerprint: "f", continued: 0 };
const verdict = { type: "verdict" as const, stop: false, reason: "r", usage: {} as never, at };
const entry: RunEvent = { type: "entry-end", ...key, index: 0, entry: verdict };
const trajectory = {
  id: "q",
  query_id: "q",
  rollout: 0,
  dataset: "Clinic",
  domains: ["Clinic"],
  success: true,
  messages: [],
  metadata: { fingerprint: "f" },
} as unknown as Trajectory;
const manifest: Manifest = {
  format_version: FORMAT_VERSION,
  program_version: "1",
  node_version: "v20",
  created_at: at,
  updated_at: at,
  seed: 0,
  config: {},
  datasets: {},
};

describe("a run folder", () => {
  test("gives back what was written to it, and holds nothing else", async () => {
    const first = open();
    expect(first.manifest).toBeUndefined();
    first.writeManifest(manifest);
    first.openOutput("Clinic", defaultOutput(path, "Clinic"), () => expect.unreachable());
    await first.record(start);
    await first.record(entry);
    await first.finish(trajectory);
    await first.close();
    expect(readdirSync(path).sort()).toEqual([
      "failures.jsonl",
      "journal.jsonl",
      "manifest.json",
      "prompts.jsonl",
      "trajectories",
    ]);
    const second = open();
    const found: string[] = [];
    second.openOutput("Clinic", defaultOutput(path, "Clinic"), (record) => found.push(keyText(record)));
    expect(second.manifest).toEqual(manifest);
    expect(found).toEqual([keyText(key)]);
    expect(second.takeUnfinished().get(keyText(key))?.entries).toEqual([verdict]);
    expect(second.takeUnfinished().size).toBe(0);
    await second.close();
  });

  test("repairs the torn tail of every file before it appends", async () => {
    const first = open();
    first.openOutput("Clinic", defaultOutput(path, "Clinic"), () => {});
    await first.record(start);
    await first.finish(trajectory);
    await first.prompts.keepSystem("Be kind.");
    await first.close();
    const files = ["journal.jsonl", "failures.jsonl", "prompts.jsonl", "trajectories/Clinic.jsonl"];
    for (const file of files) writeFileSync(join(path, file), '{"type":"entry-end","torn', { flag: "a" });
    const second = open();
    second.openOutput("Clinic", defaultOutput(path, "Clinic"), () => {});
    await second.record(entry);
    await second.finish(trajectory);
    await second.close();
    for (const file of files) for (const line of lines(file)) expect(() => JSON.parse(line)).not.toThrow();
    expect(files.map((file) => lines(file).length)).toEqual([2, 0, 1, 2]);
  });

  test("has one writer", async () => {
    const first = open();
    expect(() => open()).toThrow(`${path} is in use by process ${process.pid}`);
    await first.close();
    await open().close();
    expect(existsSync(join(path, "lock"))).toBe(false);
  });

  test("keeps no entries without checkpoints, but starts and ends", async () => {
    const folder = open({ checkpoints: false });
    await folder.record(start);
    await folder.record(entry);
    await folder.close();
    expect(lines("journal.jsonl")).toHaveLength(1);
  });

  test("keeps its journal where it is told to", async () => {
    const checkpointDir = join(path, "elsewhere");
    const folder = open({ checkpointDir });
    await folder.record(start);
    await folder.close();
    expect(existsSync(join(path, "journal.jsonl"))).toBe(false);
    expect(lines("elsewhere/journal.jsonl")).toHaveLength(1);
  });

  test("keeps failures apart from trajectories", async () => {
    const folder = open();
    const failure = {
      id: "q",
      query_id: "q",
      rollout: 0,
      dataset: "Clinic",
      attempt: 1,
      error: "gone",
      kind: "server",
      boundary: "tool",
      entries: 3,
      at,
    };
    await folder.fail(failure);
    await folder.close();
    expect(lines("failures.jsonl").map((line) => JSON.parse(line))).toEqual([
      { ...failure, checksum: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
  });

  test("stores each prompt and tool list once, by content, over all runs in it", async () => {
    const tool = { name: "t", description: "d", parameters: { type: "object" }, readOnly: true };
    for (let round = 0; round < 2; round++) {
      const folder = open();
      expect(await folder.prompts.keepSystem("Be kind.")).toBe(contentHash("Be kind."));
      const lists = [[tool], [{ ...tool, readOnly: false }], []];
      const hashes = await Promise.all(lists.map((list) => folder.prompts.keepTools(list)));
      expect(new Set(hashes).size).toBe(2);
      await folder.close();
    }
    expect(lines("prompts.jsonl").map((line) => JSON.parse(line).content)).toEqual([
      "Be kind.",
      [{ type: "function", function: { name: "t", description: "d", parameters: { type: "object" } } }],
      [],
    ]);
  });

  test("that cannot be made is a usage error", () => {
    const file = join(root, "a-file");
    writeFileSync(file, "");
    expect(() => open({ path: join(file, "run") })).toThrow(UsageError);
    expect(() => open({ path: join(file, "run") })).toThrow("Cannot write to");
  });
});

describe("the manifest", () => {
  const refused = (text: string) => {
    const file = join(root, `${made}.json`);
    writeFileSync(file, text);
    return () => readManifest(file);
  };

  test("of a newer version is refused politely, and the run is left as it is", async () => {
    await open().close();
    const text = JSON.stringify({ ...manifest, format_version: FORMAT_VERSION + 1, novelty: true });
    writeFileSync(join(path, "manifest.json"), text);
    expect(() => open()).toThrow(UsageError);
    expect(() => open()).toThrow(
      `manifest.json: was written by a newer version of rollout (format ${FORMAT_VERSION + 1}, this one knows ${FORMAT_VERSION}); update rollout`,
    );
    expect(readFileSync(join(path, "manifest.json"), "utf8")).toBe(text);
    expect(existsSync(join(path, "lock"))).toBe(false);
  });

  test("that is broken or something else is refused by its file", () => {
    expect(refused("{")).toThrow(/\.json: is not valid JSON/);
    expect(refused("[]")).toThrow(/\.json: is not a run's manifest/);
    expect(refused("{}")).toThrow(/\.json: is not a run's manifest/);
    expect(readManifest(join(root, "nowhere.json"))).toBeUndefined();
  });
});

describe("a path beside", () => {
  const beside = (wanted: string, ...taken: string[]) => findFreePath(wanted, (one) => taken.includes(one));

  test.each([
    ["runs/a", [], "runs/a"],
    ["runs/a", ["runs/a"], "runs/a.2"],
    ["runs/a", ["runs/a", "runs/a.2", "runs/a.3"], "runs/a.4"],
    ["out.jsonl", ["out.jsonl"], "out.2.jsonl"],
    ["out.jsonl", ["out.jsonl", "out.2.jsonl"], "out.3.jsonl"],
    ["v1.5/a", ["v1.5/a"], "v1.5/a.2"],
  ])("%s with %j taken is %s", (wanted, taken, expected) => {
    expect(beside(wanted, ...taken)).toBe(expected);
  });

  test("looks at the disk unless told otherwise", () => {
    expect(findFreePath(root)).toBe(`${root}.2`);
    expect(findFreePath(join(root, "free"))).toBe(join(root, "free"));
  });
});

test("a dataset's default output stays inside the run, whatever the dataset is called", () => {
  for (const name of ["../../etc", "..", "/abs", "a/b"]) {
    expect(resolve(defaultOutput(path, name)).startsWith(join(path, "trajectories/"))).toBe(true);
  }
});
