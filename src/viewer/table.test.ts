import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type MadeRecord, recordLine, scoreLine, writeRun } from "../../test/support/view-run.ts";
import { RunIndex } from "./run-index.ts";
import { toTableView } from "./views/rollouts.ts";
import { toRunView } from "./views/run.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-table-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let number = 0;

type Made = MadeRecord & { check: boolean | null; turns: number; stop: string; tool: string };

async function indexOf(records: readonly Made[]): Promise<RunIndex> {
  const run = join(folder, String(++number));
  const lines = records.map(lineOf).join("");
  writeRun(
    run,
    { Desk: lines },
    { "scores.jsonl": records.map((made) => scoreLine(made, "actions", made.check)).join("") },
  );
  const index = new RunIndex(run);
  await index.update();
  return index;
}

function lineOf({ turns, stop, tool, ...made }: Made): string {
  const call = { id: "c", type: "function", function: { name: tool, arguments: "{}" } };
  return recordLine({
    ...made,
    messages: [{ role: "assistant", content: "", tool_calls: [call] }],
    metadata: { total_turns: turns, stop_reason: stop },
  });
}

const view = (index: RunIndex, query: string) => toTableView({ name: "run", index }, new URLSearchParams(query));

describe("the table", () => {
  test("shows the rows that a filter leaves, in the order that is asked for, and counts what the other filters leave", async () => {
    const stops = ["user_stop", "max_turns", "repeated_calls"];
    const tools = ["look_up", "book"];
    const made = fc.record({
      check: fc.constantFrom(true, false, null),
      turns: fc.nat(5),
      stop: fc.constantFrom(...stops),
      tool: fc.constantFrom(...tools),
    });
    const query = fc.record({
      stops: fc.subarray(stops),
      tools: fc.subarray(tools),
      verdicts: fc.subarray(["solved", "failed", "unscored"]),
      from: fc.option(fc.nat(5)),
      up: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(made, { maxLength: 12 }), query, async (all, { stops, tools, verdicts, from, up }) => {
        const records = all.map((one, at) => ({ ...one, queryId: `q-${at}` }));
        const index = await indexOf(records);
        const params = new URLSearchParams({ sort: "turns", order: up ? "up" : "down" });
        for (const stop of stops) params.append("stop", stop);
        for (const tool of tools) params.append("tool", tool);
        for (const verdict of verdicts) params.append("verdict", verdict);
        if (from !== null) params.append("turns.from", String(from));
        const table = await view(index, params.toString());
        const verdictOf = ({ check }: Pick<Made, "check">) =>
          check === null ? "unscored" : check ? "solved" : "failed";
        const fits = (values: readonly string[], value: string) => values.length === 0 || values.includes(value);
        const others = records.filter(
          (one) => fits(tools, one.tool) && fits(verdicts, verdictOf(one)) && one.turns >= (from ?? 0),
        );
        const wanted = others.filter((one) => fits(stops, one.stop));
        expect(table.rows.map(({ id }) => id).sort()).toEqual(wanted.map(({ queryId }) => queryId).sort());
        const turns = table.rows.map((row) => row.turns);
        expect(turns).toEqual(turns.toSorted((a, b) => (up ? a - b : b - a)));
        const counts = Object.fromEntries(
          [...new Set(others.map(({ stop }) => stop))].map((stop) => [
            stop,
            others.filter((one) => one.stop === stop).length,
          ]),
        );
        expect(table.facets.stop).toEqual(counts);
      }),
      { numRuns: 40 },
    );
  });

  test("every bar of a run's pictures leads to as many rollouts as it counts", async () => {
    const records = Array.from({ length: 60 }, (_, at) => ({
      ...{ queryId: `q-${at % 20}`, rollout: Math.floor(at / 20), turns: (at * 7) % 31, tool: `tool_${at % 5}` },
      ...{ stop: at % 4 === 0 ? "max_turns" : "user_stop", check: at % 3 === 0 ? null : at % 2 === 0 },
    }));
    const index = await indexOf(records);
    const { charts, card } = toRunView({ name: "run", index });
    const { checks, finished, ...bars } = charts;
    const all = [...Object.values(bars).flat(), ...checks.flatMap(({ passed, failed }) => [passed, failed])];
    expect(all.length).toBeGreaterThan(20);
    for (const { where, count, label } of all) expect((await view(index, where)).chosen, label).toBe(count);
    let before = 0;
    for (const { where, total } of finished) {
      expect((await view(index, where)).chosen).toBe(total - before);
      before = total;
    }
    expect(before).toBe(60);
    expect(card.passAt1?.value).toBeCloseTo(0.5, 1);
  });

  test("goes on as files grow, and starts anew as one is replaced", async () => {
    const made = (at: number): Made => ({ queryId: `q-${at}`, turns: at, stop: "user_stop", tool: "t", check: true });
    const index = await indexOf([made(0), made(1)]);
    const file = index.rows[0]?.place.file as string;
    appendFileSync(file, `${lineOf(made(2)) + lineOf(made(2))}{broken\n`);
    appendFileSync(join(index.path, "scores.jsonl"), scoreLine(made(2), "actions", false));
    await index.update();
    expect((await view(index, "sort=id&order=up")).rows.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      ...["q-0 solved", "q-1 solved", "q-2 failed"],
    ]);
    expect(index.notes.join()).toMatch(/2 damaged lines .*line 4 repeats a record/);
    await view(index, "text=t");
    writeFileSync(file, lineOf(made(1)));
    await index.update();
    expect((await view(index, "")).rows.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(["q-1 solved"]);
    expect((await view(index, "text=t")).chosen).toBe(1);
    rmSync(file);
    await index.update();
    expect((await view(index, "")).total).toBe(0);
  });

  test("a bad manifest, a newer one and none are told in a sentence", async () => {
    const index = await indexOf([]);
    for (const [text, sentence] of [
      ["{", /not valid JSON/],
      ['{"format_version":99,"datasets":{}}', /newer version/],
    ] as const) {
      writeFileSync(join(index.path, "manifest.json"), text);
      const other = new RunIndex(index.path);
      await other.update();
      expect(toRunView({ name: "run", index: other }).card).toMatchObject({ state: "unreadable" });
      expect(other.trouble).toMatch(sentence);
    }
  });
});
