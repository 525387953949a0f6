import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { answer, call, createPool, havePython, open } from "../../../test/support/python/support.ts";
import { RolloutError } from "../../core/index.ts";

describe.runIf(await havePython())("trouble in Python servers", () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("noise on stdout and stderr, from Python, C and child processes, never reaches the channel", async () => {
    const pool = createPool();
    const desk = await open(pool, "TroubleDesk");
    expect(await answer(desk, "noise", { size: 2_000_000 })).toEqual({ read: "", folder: [] });
    expect(await answer(desk, "echo", { a: 1 })).toEqual({ a: 1 });
    await pool.close();
  });

  test("no key reaches a server's environment", async () => {
    const planted = { OPENAI_API_KEY: "sk-planted-1", ANTHROPIC_AUTH_TOKEN: "planted-2", PYTHONSTARTUP: "planted-3" };
    const pool = createPool({ environment: { ...process.env, ...planted } });
    const desk = await open(pool, "TroubleDesk");
    const { content } = await call(desk, "environment");
    expect(content).toContain("PYTHONHASHSEED");
    expect(content).not.toMatch(/planted|API_KEY|TOKEN/);
    await pool.close();
  });

  test("after a crash the call is repeated on a fresh process, with every rollout's earlier calls, and siblings go on", async () => {
    const pool = createPool();
    const [guilty, sibling] = [await open(pool, "TroubleDesk", 1), await open(pool, "TroubleDesk", 2)];
    const noted = await answer(guilty, "add_note", { text: "before" });
    await call(sibling, "add_note", { text: "sibling's" });
    const before = pool.processIds();
    const waiting = [
      call(guilty, "crash_once", { mark: join(folder, "crashed") }),
      call(sibling, "add_note", { text: "b" }),
    ];
    expect((await Promise.all(waiting)).map(({ content }) => JSON.parse(content))).toMatchObject([
      { success: true },
      { success: true, notes: 2 },
    ]);
    expect(await guilty.state()).toEqual({
      Note: { [(noted as { note_id: string }).note_id]: expect.objectContaining({ text: "before" }) },
    });
    expect(pool.processIds()).toHaveLength(1);
    expect(pool.processIds()).not.toEqual(before);
    await pool.close();
  });

  test("a call that takes its process down twice ends its rollout alone", async () => {
    const pool = createPool();
    const [guilty, sibling] = [await open(pool, "TroubleDesk", 1), await open(pool, "TroubleDesk", 2)];
    await call(sibling, "add_note", { text: "a" });
    const [crashed, ...notes] = await Promise.allSettled([
      call(guilty, "crash"),
      call(sibling, "add_note", { text: "b" }),
      call(sibling, "add_note", { text: "c" }),
    ]);
    expect(notes).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
    expect(crashed).toMatchObject({ reason: expect.any(RolloutError) });
    const { reason } = crashed as PromiseRejectedResult;
    expect(reason).toMatchObject({ boundary: "tool", stopReason: "infrastructure" });
    expect(reason.message).toMatch(/^TroubleDesk\.crash: Python ended with exit code 7 \(.*about to crash\), 2 times/);
    expect(await answer(sibling, "add_note", { text: "d" })).toMatchObject({ notes: 4 });
    await pool.close();
  });

  test.each(["hang", "hang_in_c"])("a call that never answers (%s) is ended at its time limit", async (tool) => {
    const pool = createPool({ callTimeLimit: 300 });
    const [guilty, sibling] = [await open(pool, "TroubleDesk", 1), await open(pool, "TroubleDesk", 2)];
    await call(sibling, "add_note", { text: "a" });
    const [hung, note] = await Promise.allSettled([call(guilty, tool), call(sibling, "add_note", { text: "b" })]);
    expect(hung).toMatchObject({ reason: { message: expect.stringContaining("did not answer within 0.3 s") } });
    expect(note).toMatchObject({ value: { isError: false } });
    await pool.close();
  });

  test("a server that closes the channel counts as crashed", async () => {
    const pool = createPool();
    const desk = await open(pool, "TroubleDesk");
    await expect(call(desk, "close_files")).rejects.toThrow(RolloutError);
    await pool.close();
  });

  test("where a repeated call gives another result, the rollout ends as infrastructure, to be tried again", async () => {
    const pool = createPool();
    const desk = await open(pool, "TroubleDesk");
    await call(desk, "uncertain");
    process.kill(Number(await answer(await open(pool, "TroubleDesk", 2), "process")), "SIGKILL");
    const different = {
      boundary: "infrastructure",
      retryable: true,
      message: expect.stringContaining("another result"),
    };
    await expect(call(desk, "echo")).rejects.toMatchObject(different);
    await expect(call(desk, "echo")).rejects.toMatchObject(different);
    await pool.close();
  });

  test("an aborted call is left at once, and the session is freed all the same", async () => {
    const pool = createPool({ callTimeLimit: 500 });
    const desk = await open(pool, "TroubleDesk");
    const controller = new AbortController();
    const hanging = desk.call({ id: "1", name: "hang", arguments: "{}" }, controller.signal);
    controller.abort(new Error("enough"));
    await expect(hanging).rejects.toThrow("enough");
    await desk.close();
    expect(await answer(await open(pool, "TroubleDesk", 2), "sessions")).toBe(1);
    await pool.close();
    await expect(open(pool, "TroubleDesk")).rejects.toThrow("closed");
  });
});
