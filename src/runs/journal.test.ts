import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { endWith, type LoopReason, NO_USAGE, type ReplyEntry, type RolloutKey, type RunEvent } from "../core/index.ts";
import { keyText } from "./finished.ts";
import { journalLine, scanJournal } from "./journal.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-journal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "journal.jsonl");
const at = "2026-02-10T09:00:00.000Z";

const key = (queryId: string, rollout = 0): RolloutKey => ({ dataset: "Clinic", queryId, rollout });
const reply = (content: string): ReplyEntry => ({
  type: "reply",
  by: "agent",
  content,
  toolCalls: [],
  usage: NO_USAGE,
  finish: "stop",
  at,
});
const started = (
  of: RolloutKey,
  more: { attempt?: number; continued?: number; fingerprint?: string } = {},
): RunEvent => ({
  type: "rollout-start",
  ...of,
  at,
  attempt: 1,
  fingerprint: "f1",
  continued: 0,
  ...more,
});
const entry = (of: RolloutKey, index: number, content: string): RunEvent => ({
  type: "entry-end",
  ...of,
  index,
  entry: reply(content),
});
const finished = (of: RolloutKey, stopReason: LoopReason, attempt = 1): RunEvent => ({
  type: "rollout-end",
  ...of,
  at,
  attempt,
  fingerprint: "f1",
  outcome: endWith(stopReason),
  turns: 1,
  toolCalls: 0,
  usage: NO_USAGE,
  durationMs: 1,
});

function scan(events: RunEvent[], tail = "") {
  const text = events.map(journalLine).join("");
  writeFileSync(file, text + tail);
  const { unfinished, completeBytes } = scanJournal(file);
  expect(completeBytes).toBe(Buffer.byteLength(text));
  return unfinished;
}

const contents = (unfinished: ReturnType<typeof scan>, of: RolloutKey) =>
  unfinished.get(keyText(of))?.entries.map((one) => one.type === "reply" && one.content);

describe("the journal read back", () => {
  test("gives the entries of rollouts that did not end, in order, and nothing of those that did", () => {
    const unfinished = scan([
      { type: "run-start", at, folder: "f", programVersion: "1", datasets: [] },
      started(key("a")),
      started(key("b")),
      entry(key("a"), 0, "a0"),
      entry(key("b"), 0, "b0"),
      entry(key("a"), 1, "a1"),
      { type: "run-note", at, message: "x" },
      finished(key("b"), "user_stop"),
      started(key("c")),
    ]);
    expect([...unfinished.keys()]).toEqual([keyText(key("a")), keyText(key("c"))]);
    expect(contents(unfinished, key("a"))).toEqual(["a0", "a1"]);
    expect(unfinished.get(keyText(key("a")))).toMatchObject({ fingerprint: "f1", attempts: 0 });
    expect(unfinished.get(keyText(key("c")))).toEqual({
      ...{ attempts: 0, failed: false, fingerprint: "f1", recorded: 0, entries: [], sent: new Map() },
    });
  });

  test("counts a failed attempt, but not one that was cut off or that any rollout would have met", () => {
    const shared = { ...finished(key("b"), "infrastructure"), outcome: { ...endWith("infrastructure"), own: false } };
    const unfinished = scan([
      ...[started(key("a")), finished(key("a"), "infrastructure"), started(key("b")), shared as RunEvent],
      started(key("c")),
    ]);
    const found = [...unfinished.values()].map(({ attempts, failed }) => [attempts, failed]);
    expect(found).toEqual([
      [1, true],
      [0, true],
      [0, false],
    ]);
  });

  test("gives an entry back as it was written, whatever its text", () => {
    const content = `quote " ,"index":9, ,\\"index\\":1 \u2028 \u0000 \ud800 {"type":"rollout-end"}\n`;
    const [of, event] = [key(`q ,"index":7 "\n#1`, 3), entry(key(`q ,"index":7 "\n#1`, 3), 0, content)];
    expect(scan([started(of), event]).get(keyText(of))?.entries).toEqual([reply(content)]);
  });

  test("keeps rollouts of one query, and queries of two datasets, apart", () => {
    const other = { ...key("a"), dataset: "Library" };
    const unfinished = scan([
      started(key("a")),
      started(key("a", 1)),
      started(other),
      entry(key("a", 1), 0, "second"),
      entry(other, 0, "other"),
      finished(key("a"), "user_stop"),
    ]);
    expect(unfinished.size).toBe(2);
    expect(contents(unfinished, key("a", 1))).toEqual(["second"]);
    expect(contents(unfinished, other)).toEqual(["other"]);
  });

  test("counts an attempt that failed, but not one that was cut off", () => {
    const attempts = (events: RunEvent[]) => scan(events).get(keyText(key("a")))?.attempts;
    expect(attempts([started(key("a"))])).toBe(0);
    expect(attempts([started(key("a")), finished(key("a"), "infrastructure")])).toBe(1);
    expect(attempts([started(key("a")), finished(key("a"), "infrastructure"), started(key("a"), { attempt: 2 })])).toBe(
      1,
    );
    expect(
      attempts([
        started(key("a")),
        finished(key("a"), "infrastructure"),
        started(key("a"), { attempt: 2 }),
        finished(key("a"), "infrastructure", 2),
      ]),
    ).toBe(2);
    expect(attempts([started(key("a")), finished(key("a"), "infrastructure"), finished(key("a"), "max_steps")])).toBe(
      undefined,
    );
  });

  test("joins the entries that an attempt took over with its own", () => {
    const events = [started(key("a")), entry(key("a"), 0, "0"), entry(key("a"), 1, "1"), entry(key("a"), 2, "2")];
    const goneOn = [started(key("a"), { continued: 2 }), entry(key("a"), 2, "2 again"), entry(key("a"), 3, "3")];
    expect(contents(scan([...events, ...goneOn]), key("a"))).toEqual(["0", "1", "2 again", "3"]);
  });

  test("forgets the entries of an attempt that was started over, under the newer fingerprint", () => {
    const events = [started(key("a")), entry(key("a"), 0, "old"), started(key("a"), { fingerprint: "f2" })];
    const unfinished = scan([...events, entry(key("a"), 0, "new")]);
    expect(contents(unfinished, key("a"))).toEqual(["new"]);
    expect(unfinished.get(keyText(key("a")))?.fingerprint).toBe("f2");
  });

  test("ends before a torn tail, wherever it was cut", () => {
    const torn = journalLine(entry(key("a"), 1, "cut"));
    for (let cut = 0; cut < torn.length - 1; cut += 7) {
      const unfinished = scan([started(key("a")), entry(key("a"), 0, "whole")], torn.slice(0, cut));
      expect(contents(unfinished, key("a"))).toEqual(["whole"]);
    }
  });

  test("skips entries whose rollout was never started, and lines that are none of ours", () => {
    const text = [entry(key("lost"), 0, "x"), started(key("a"))].map(journalLine).join("");
    writeFileSync(file, `\n{"type":"unknown-thing"}\nnonsense\n{"type":"entry-end"}\n{"type":"rollout-start"\n${text}`);
    expect([...scanJournal(file).unfinished.keys()]).toEqual([keyText(key("a"))]);
  });

  test("of a run that has none is empty", () => {
    expect(scanJournal(join(folder, "nowhere"))).toEqual({ unfinished: new Map(), completeBytes: 0 });
  });
});

test("a line opens with its type, whatever the order of the event's members", () => {
  const { type, ...rest } = started(key("a"));
  expect(journalLine({ ...rest, type } as RunEvent)).toMatch(/^\{"type":"rollout-start",/);
});
