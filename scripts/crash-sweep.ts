// The whole crash sweep: a run is killed at each of its file operations, in every way that a kill can happen.
// `npx tsx scripts/crash-sweep.ts [bundled|python] [queries]`, after `npm run build`. Takes minutes.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { bundledSubject, pythonSubject } from "../test/support/crash/subjects.ts";
import { CrashSweep, HOWS } from "../test/support/crash/sweep.ts";

const [which, queries = "6"] = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), "rollout-crash-data-"));
const subjects = {
  bundled: bundledSubject(Number(queries)),
  python: pythonSubject(data, Number(queries)),
};

let wrong = 0;
for (const [name, config] of Object.entries(subjects)) {
  if (which && which !== name) continue;
  const sweep = new CrashSweep(config);
  try {
    const operations = await sweep.prepare();
    console.log(`${name}: ${sweep.records} rollouts, about ${operations} operations`);
    for (const how of HOWS) await sweepOne(sweep, name, how);
    for (const first of [operations / 4, operations / 3, operations / 2].map(Math.ceil)) {
      const { kills, problems } = await sweep.tryOverAndOver(first, 1);
      tell(problems);
      console.log(`${name}: one run killed ${kills} times over, from operation ${first} on: ${verdict(problems)}`);
    }
  } finally {
    sweep.remove();
  }
}
rmSync(data, { recursive: true, force: true });
process.exitCode = wrong === 0 ? 0 : 1;

/** Continues until runs finish before they are killed; how many operations they take varies a little. */
async function sweepOne(sweep: CrashSweep, name: string, how: (typeof HOWS)[number]): Promise<void> {
  let next = 1;
  let survived = 0;
  let kills = 0;
  const found: string[] = [];
  const work = async () => {
    while (survived < 3) {
      const { killed, problems } = await sweep.try({ at: next++, how });
      if (killed) kills++;
      else survived++;
      found.push(...problems);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  tell(found);
  console.log(`${name}: killed ${how} each of ${kills} operations: ${verdict(found)}`);
}

function tell(problems: string[]): void {
  wrong += problems.length;
  for (const problem of problems) console.error(problem);
}

function verdict(problems: string[]): string {
  return problems.length === 0 ? "nothing lost, doubled or paid twice" : `${problems.length} PROBLEMS`;
}
