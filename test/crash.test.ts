// A short sweep of kills, spread over a run. The full one is `npx tsx scripts/crash-sweep.ts`.
import { afterAll, describe, expect, test } from "vitest";
import { bundledSubject, pythonSubject } from "./support/crash/subjects.ts";
import { CrashSweep, HOWS, type Kill, type KillHow } from "./support/crash/sweep.ts";
import { temporaryFolder } from "./support/play.ts";
import { havePython } from "./support/python/support.ts";

/** Points in a run, as the share of its operations done before, alternating between the ways of being killed. */
function kills(operations: number, shares: number[]): Kill[] {
  return shares.map((share, index) => ({
    at: Math.max(1, Math.round(operations * share)),
    how: HOWS[index % HOWS.length] as KillHow,
  }));
}

async function problemsOf(sweep: CrashSweep, shares: number[]): Promise<string[]> {
  const operations = await sweep.prepare();
  const left = kills(operations, shares);
  const problems: string[] = [];
  const work = async () => {
    for (let kill = left.shift(); kill; kill = left.shift()) problems.push(...(await sweep.try(kill)).problems);
  };
  await Promise.all([work(), work()]);
  return problems;
}

const pythonIsHere = await havePython();
const SHARES = [0, 0.1, 0.3, 0.5, 0.7, 0.9];

describe("a run that is killed at any moment and run again", () => {
  const sweep = new CrashSweep(bundledSubject(3));
  afterAll(() => sweep.remove());

  test("of a bundled domain: nothing is lost or doubled, and no recorded call is paid for again", async () => {
    expect(await problemsOf(sweep, SHARES)).toEqual([]);
    expect(sweep.records).toBe(3);
  });

  test("comes to its end too when it is killed over and over", async () => {
    const { kills: made, problems } = await sweep.tryOverAndOver(Math.ceil(sweep.operations / 2), 2);
    expect(problems).toEqual([]);
    expect(made).toBeGreaterThan(0);
  });

  test.runIf(pythonIsHere)("of a Python dataset: ids that its tools make up are the same again", async () => {
    const python = new CrashSweep(pythonSubject(temporaryFolder(), 2));
    try {
      expect(
        await problemsOf(
          python,
          SHARES.filter((_, index) => index % 2 === 1),
        ),
      ).toEqual([]);
      expect(python.records).toBe(2);
    } finally {
      python.remove();
    }
  });
});
