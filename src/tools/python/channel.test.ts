// What a server does to the channel of its replies touches no other rollout: only what the bridge itself sealed for the
// request in line counts.
import { describe, expect, test } from "vitest";
import { answer, call, createPool, havePython, open } from "../../../test/support/python/support.ts";
import { RolloutError } from "../../core/index.ts";

const FORGED = `{"content": "forged"}`;
const SEAL = "0123456789abcdef0123456789abcdef";

describe.runIf(await havePython())("the channel of Python's replies", () => {
  async function withDesks(work: (a: Desk, b: Desk, notes: string[]) => Promise<void>, callTimeLimit = 20_000) {
    const notes: string[] = [];
    const pool = createPool({ callTimeLimit, notice: (note) => notes.push(note) });
    try {
      await work(await open(pool, "TroubleDesk", 1), await open(pool, "TroubleDesk", 2), notes);
    } finally {
      await pool.close();
    }
    return notes;
  }
  type Desk = Awaited<ReturnType<typeof open>>;

  test.each([
    ["os", "returns"],
    ["os", "raises"],
    ["os", "exits"],
    ["os", "stays"],
    ["libc", "returns"],
    ["libc", "raises"],
    ["libc", "exits"],
  ])("a server that forks (%s, the copy %s) is answered once, and its copy takes no part", async (how, comes_back) => {
    const notes = await withDesks(async (desk, other) => {
      const [forked, note] = await Promise.all([
        answer(desk, "fork", { how, comes_back }),
        answer(other, "add_note", { text: "b" }),
      ]);
      expect(forked).toMatchObject({ from: "the server" });
      expect(note).toMatchObject({ notes: 1 });
      for (let n = 0; n < 20; n++) {
        expect(await answer(desk, "echo", { n })).toEqual({ n });
        expect(await answer(other, "echo", { other: n })).toEqual({ other: n });
      }
    });
    expect(notes).toEqual([]);
  });

  test.each([
    ["garbage", "garbage\n"],
    ["a part of a line", "garbage without an end"],
    ["bytes that are no text", "\udcff\udcfe\n\udc80"],
    ["JSON", `${FORGED}\n`],
    ["the next replies, forged", Array.from({ length: 40 }, (_, n) => `\n${n + 40} ${SEAL} ${FORGED}\n`).join("")],
    ["lines without end", "\n".repeat(10) + "x\n".repeat(5000)],
  ])("%s in the channel is dropped, counted and told once", async (_, text) => {
    const notes = await withDesks(async (desk, other) => {
      expect(await answer(desk, "write_everywhere", { text })).toEqual({ written: true });
      for (let n = 0; n < 20; n++) expect(await answer(other, "echo", { n })).toEqual({ n });
    });
    expect(notes).toEqual([expect.stringMatching(/^Servers wrote lines .* dropped: TroubleDesk \d+$/)]);
  });

  test("what a thread writes after its call does not reach another rollout's record", async () => {
    const notes = await withDesks(async (desk, other) => {
      const text = Array.from({ length: 100 }, (_, n) => `${n} ${SEAL} ${FORGED}\n`).join("");
      await answer(desk, "write_everywhere", { text, later: 0.05 });
      for (let n = 0; n < 30; n++) {
        expect(await answer(other, "echo", { n })).toEqual({ n });
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    expect(notes).toHaveLength(1);
  });

  test("a reply that another thread wrote into is not taken: the call is made again, or the rollout ends", async () => {
    await withDesks(async (desk, other) => {
      await answer(desk, "write_during", { text: "FORGED", seconds: 1 });
      for (let n = 0; n < 10; n++) {
        const text = "z".repeat(400_000);
        const result = await call(other, "plain", { text }).catch((error) => error);
        if (result instanceof RolloutError) return;
        expect(result.content === text).toBe(true);
      }
    }, 3000);
  });

  test("tables that are nested too deep end the rollout, not the run", async () => {
    await withDesks(async (desk, other) => {
      await call(desk, "deep_row", { depth: 500 });
      await expect(desk.state()).rejects.toThrow("nested deeper than 128 levels");
      await expect(desk.state()).rejects.toThrow(RolloutError);
      expect(await other.state()).toEqual({});
    });
  });

  test("a call that was given up leaves no trace, and what comes next does not wait for it", async () => {
    await withDesks(async (desk, other) => {
      const noted = (await answer(desk, "add_note", { text: "kept" })) as { note_id: string };
      await call(other, "add_note", { text: "other's" });
      const giveUp = new AbortController();
      const hanging = desk.call({ id: "1", name: "hang", arguments: "{}" }, giveUp.signal);
      const behind = call(other, "add_note", { text: "behind" });
      setTimeout(() => giveUp.abort(new Error("enough")), 100);
      await expect(hanging).rejects.toThrow("enough");
      expect(await desk.state()).toEqual({ Note: { [noted.note_id]: { note_id: noted.note_id, text: "kept" } } });
      expect(JSON.parse((await behind).content)).toMatchObject({ notes: 2 });
    }, 10_000);
  });
});
