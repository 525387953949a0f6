import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type MadeRecord, recordLine, writeRun } from "../../test/support/view-run.ts";
import { RunIndex } from "./run-index.ts";
import { excerptOf, Search } from "./search.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-search-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let number = 0;

async function indexOf(...lines: string[]): Promise<RunIndex> {
  const run = join(folder, String(++number));
  writeRun(run, { Desk: lines.join("") });
  const index = new RunIndex(run);
  await index.update();
  expect(index.rows).toHaveLength(lines.length);
  return index;
}

/** The ids of the rollouts that are found. */
async function find(index: RunIndex, text: string): Promise<string[]> {
  const search = new Search(text);
  await search.ask(index.rows, Number.POSITIVE_INFINITY);
  return index.rows.filter((_, at) => search.has(at)).map(({ id }) => id);
}

const said = (queryId: string, content: string, more: Partial<MadeRecord> = {}) =>
  recordLine({ queryId, messages: [{ role: "user", content }], ...more });

describe("search", () => {
  test("finds what a naive reader finds, in any text", async () => {
    const unit = fc.constantFrom("a", "B", "b", "é", "中", '"', "\\", "\n", " ", "u", "😀", "{", ":");
    const text = fc.string({ unit, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 6 }),
        fc.string({ unit, minLength: 1, maxLength: 3 }).filter((needle) => !/^[{}[\]:,"\s\\u]*$/.test(needle)),
        async (texts, needle) => {
          const index = await indexOf(...texts.map((content, at) => said(`${at}-`, content)));
          const lower = (value: string) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
          const wanted = texts.flatMap((content, at) => (lower(content).includes(lower(needle)) ? [`${at}-`] : []));
          // the roles are "user": a letter of theirs is in every record, but not in a text
          expect(await find(index, needle)).toEqual(wanted);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("finds neither names of members nor roles nor metadata nor ids, but the same words in texts", async () => {
    const index = await indexOf(
      said("q-1", "Nothing of the kind."),
      said("q-2", "A user's content, tool, metadata, user_stop, q-1"),
    );
    for (const word of ["user", "content", "ser", "tool", "metadata", "user_stop", "q-1"])
      expect(await find(index, word), word).toEqual(["q-2"]);
    for (const word of ["role", "fingerprint", "duration_ms", "Desk", "q-2"])
      expect(await find(index, word), word).toEqual([]);
  });

  test("finds a text in calls, results, reasoning and calls of the user, whatever escaped it", async () => {
    const call = { id: "c", type: "function", function: { name: "look_up", arguments: '{"name":"Zoë \\"Z\\""}' } };
    const index = await indexOf(
      recordLine({ queryId: "call", messages: [{ role: "assistant", content: "", tool_calls: [call] }] }),
      recordLine({ queryId: "result", messages: [{ role: "tool", content: '{"city":"München"}', tool_call_id: "c" }] }),
      recordLine({
        queryId: "thought",
        messages: [{ role: "assistant", content: "", reasoning_content: "Hmm, MÜNCHEN?" }],
      }),
      said("escaped", "München").replaceAll("ü", "\\u00FC"),
    );
    expect(await find(index, "LOOK_UP")).toEqual(["call"]);
    expect(await find(index, 'zoë \\"z')).toEqual(["call"]);
    expect(await find(index, "münchen")).toEqual(["result", "escaped"]);
    expect(await find(index, '"city":"M')).toEqual(["result"]);
  });

  test("goes over the limits of what is read at once, and on as the run grows", async () => {
    const long = "x".repeat(700_000);
    const lines = Array.from({ length: 7 }, (_, at) => said(`q-${at}`, `${long} needle-${at} ${long}`));
    const index = await indexOf(...lines);
    for (const at of [0, 3, 6]) expect(await find(index, `NEEDLE-${at}`)).toEqual([`q-${at}`]);
    const search = new Search("needle-6");
    await search.ask(index.rows.slice(0, 6), Number.POSITIVE_INFINITY);
    expect(index.rows.some((_, at) => search.has(at))).toBe(false);
    await search.ask(index.rows, Number.POSITIVE_INFINITY);
    expect(search.has(6)).toBe(true);
    expect(search.stateFor(index.rows)).toMatchObject({ searched: 7, total: 7 });
  });

  test("gives the words around what it found, as they are read", async () => {
    const index = await indexOf(said("q", `He said: "Über\nall" ${"and so on ".repeat(20)}`));
    const search = new Search("said");
    await search.ask(index.rows, Number.POSITIVE_INFINITY);
    expect(excerptOf(index.rows[0] as never, search)).toMatch(/^He said: "Über all" and so on .*…$/);
  });

  test("over a file that vanished finds nothing, and ends", async () => {
    const index = await indexOf(said("q", "needle"));
    rmSync(index.rows[0]?.place.file as string);
    expect(await find(index, "needle")).toEqual([]);
  });
});
