// How many processes a pool has, and which of them a session gets.
import { availableParallelism } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  answer,
  call,
  createPool as create,
  domainOf,
  havePython,
  open,
} from "../../../test/support/python/support.ts";
import type { Environment } from "../../core/index.ts";
import { openPython } from "./environment.ts";

function createPool(size: number | "auto") {
  const pool = create({ size });
  onTestFinished(() => pool.close());
  return pool;
}

const processOf = async (desk: Environment) => Number(await answer(desk, "process"));

describe.runIf(await havePython())("several Python processes", () => {
  test("auto: one process serves a domain's sessions as long as no call waits for another", async () => {
    const pool = createPool("auto");
    const desks = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => open(pool, "TroubleDesk", seed)));
    const processes = new Set<number>();
    for (let round = 0; round < 3; round++) for (const desk of desks) processes.add(await processOf(desk));
    expect([...processes]).toEqual(pool.processIds());
    expect(processes.size).toBe(1);
  });

  test("auto: a second domain has a process of its own, where there are cores for it", async () => {
    const pool = createPool("auto");
    const [first, second] = [await open(pool, "TroubleDesk"), await openPython(domainOf("PlainDesk"), pool, 2)];
    await processOf(first);
    await call(second, "no_such_tool");
    expect(pool.processIds()).toHaveLength(Math.min(2, availableParallelism()));
    await second.close();
    const third = await openPython(domainOf("MailDesk"), pool, 3); // the second one's is idle now
    await call(third, "no_such_tool");
    expect(pool.processIds()).toHaveLength(Math.min(2, availableParallelism()));
  });

  test("auto: when calls wait, new sessions get further processes, and each stays on its own", async () => {
    const pool = createPool("auto");
    const wanted = Math.min(3, availableParallelism());
    let seed = 0;
    const work = async () => {
      // until there are so many, and then one session more
      for (let more = true; more; ) {
        more = pool.processIds().length < wanted;
        const desk = await open(pool, "TroubleDesk", ++seed);
        const processes = [];
        for (let n = 0; n < 3; n++) processes.push(await answer(desk, "nap", { seconds: 0.02 }));
        expect(new Set(processes).size).toBe(1);
        await desk.close();
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    expect(pool.processIds().length).toBeGreaterThanOrEqual(wanted);
    expect(pool.processIds().length).toBeLessThanOrEqual(availableParallelism());
  });

  test("auto: no session is put behind a call that hangs", async () => {
    const pool = createPool("auto");
    const [hanging, other] = [await open(pool, "TroubleDesk", 1), await open(pool, "TroubleDesk", 2)];
    await processOf(hanging);
    const giveUp = new AbortController();
    const stuck = hanging.call({ id: "1", name: "hang", arguments: "{}" }, giveUp.signal).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const isAlone = availableParallelism() === 1;
    if (!isAlone) expect(await processOf(other)).not.toBe(pool.processIds()[0]);
    giveUp.abort();
    await stuck;
  });

  test("auto, where rollouts have a time limit: a few sessions do not share a process", async () => {
    const pool = create({ size: "auto", timed: true });
    onTestFinished(() => pool.close());
    const few = Math.min(4, availableParallelism());
    const desks = await Promise.all(Array.from({ length: 2 * few }, (_, seed) => open(pool, "TroubleDesk", seed)));
    const processes = [];
    for (const desk of desks) processes.push(await processOf(desk));
    expect(new Set(processes.slice(0, few)).size).toBe(few);
    for (const pid of new Set(processes)) expect(processes.filter((one) => one === pid)).toHaveLength(2);
  });

  test("a number is how many there are, whatever the load, and sessions spread over them", async () => {
    const pool = createPool(4);
    const desks = await Promise.all(Array.from({ length: 8 }, (_, seed) => open(pool, "TroubleDesk", seed)));
    const processes = await Promise.all(desks.map(processOf));
    expect(new Set(processes)).toEqual(new Set(pool.processIds()));
    for (const pid of pool.processIds()) expect(processes.filter((one) => one === pid)).toHaveLength(2);
    for (const [n, desk] of desks.entries()) expect(await processOf(desk)).toBe(processes[n]);
  });

  test("the end of one process touches its sessions alone: they go on elsewhere, with all that they did", async () => {
    const pool = createPool(2);
    const desks = await Promise.all([1, 2, 3, 4].map((seed) => open(pool, "TroubleDesk", seed)));
    const notes = await Promise.all(desks.map((desk) => answer(desk, "add_note", { text: "before" })));
    expect(notes).toMatchObject(desks.map(() => ({ notes: 1 })));
    const [killed, living] = pool.processIds() as [number, number];
    process.kill(killed, "SIGKILL");
    const again = await Promise.all(desks.map((desk) => answer(desk, "add_note", { text: "after" })));
    expect(again).toMatchObject(desks.map(() => ({ notes: 2 })));
    const processes = await Promise.all(desks.map(processOf));
    expect(processes).not.toContain(killed);
    // the second and the fourth were never on it
    expect([processes[1], processes[3]]).toEqual([living, living]);
  });

  test("a session that never calls takes no process, and has no state", async () => {
    const pool = createPool(2);
    const [caller, silent] = [await open(pool, "TroubleDesk", 1), await open(pool, "TroubleDesk", 2)];
    await processOf(caller);
    expect(await silent.state()).toEqual({});
    expect(pool.processIds()).toHaveLength(1);
    await silent.close();
    await expect(silent.state()).rejects.toThrow("closed");
  });

  test("servers that cannot be loaded are refused for every session, also for those that waited for the first", async () => {
    const pool = createPool("auto");
    const broken = { ...domainOf("PlainDesk"), servers: [{ name: "Absent", file: "/nowhere/Absent.py" }] };
    const tried = await Promise.allSettled([1, 2, 3].map((seed) => openPython(broken, pool, seed)));
    for (const one of tried) expect(one).toMatchObject({ reason: { name: "UsageError" } });
    expect(await processOf(await open(pool, "TroubleDesk"))).toBeGreaterThan(0);
  });
});
