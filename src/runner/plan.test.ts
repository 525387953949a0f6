import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/play.ts";
import { openContext, openFolder, prepare } from "../../test/support/prepared.ts";
import { beginRun } from "./begin-run.ts";
import { chooseQueries, DriftError, planRun, requireKnownIds } from "./plan.ts";
import { Rollout } from "./rollout.ts";

const never = new AbortController().signal;

/** Plays the first `count` planned rollouts of a run into its folder. */
async function playSome(folder: string, patch: object, count: number) {
  const { run, dataset } = await prepare({ folder, patch });
  const opened = openFolder(run);
  const plan = planRun(run, [dataset], opened);
  const { context } = openContext(run, opened);
  await beginRun(context, { folder: opened, datasets: [dataset], plan });
  for (const planned of plan.rollouts) {
    if (count-- <= 0) break;
    await (await new Rollout(context, planned, never).play()).written;
  }
  await opened.close();
}

test("everything asked for is planned, query by query, each rollout with a seed and a fingerprint of its own query", async () => {
  const { run, dataset } = await prepare({ patch: { limit: 3, rollouts: 2 } });
  const plan = planRun(run, [dataset], openFolder(run));
  expect(plan.size).toBe(6);
  expect(plan.datasets).toMatchObject([{ name: "StudentAcademicPortal", planned: 6, kept: 0 }]);
  const rollouts = [...plan.rollouts];
  const ids = dataset.queries.ids.slice(0, 3);
  expect(rollouts.map(({ key }) => [key.queryId, key.rollout])).toEqual(
    ids.flatMap((id) => [
      [id, 0],
      [id, 1],
    ]),
  );
  expect(new Set(rollouts.map(({ seed }) => seed)).size).toBe(6);
  expect(new Set(rollouts.map(({ fingerprint }) => fingerprint)).size).toBe(3);
  expect(rollouts.every(({ attempt, recorded, drift }) => attempt === 1 && recorded.length === 0 && !drift)).toBe(true);
});

test("what the folder holds is kept, and only the rest is planned", async () => {
  const folder = temporaryFolder();
  await playSome(folder, { limit: 3 }, 2);
  const { run, dataset } = await prepare({ folder, patch: { limit: 4 } });
  const plan = planRun(run, [dataset], openFolder(run));
  expect(plan.datasets).toMatchObject([{ planned: 4, kept: 2, continuing: 0 }]);
  expect([...plan.rollouts].map(({ key }) => key.queryId)).toEqual(dataset.queries.ids.slice(2, 4));
});

test("other settings are drift, told in words", async () => {
  const folder = temporaryFolder();
  await playSome(folder, { limit: 1 }, 1);
  const changed = { limit: 2, max_turns: 3, seed: 7 };
  const refused = await prepare({ folder, patch: changed });
  const opened = openFolder(refused.run);
  const attempt = () => planRun(refused.run, [refused.dataset], opened);
  expect(attempt).toThrow(/max_turns: 20 → 3[\s\S]*seed: 0 → 7/);
  expect(attempt).toThrow(DriftError);
});

test("with allow_drift what is finished is kept, and what is left is planned and marked", async () => {
  const folder = temporaryFolder();
  await playSome(folder, { limit: 1 }, 1);
  const { run, dataset } = await prepare({ folder, patch: { limit: 2, seed: 7, allow_drift: true } });
  const plan = planRun(run, [dataset], openFolder(run));
  expect(plan.datasets).toMatchObject([{ planned: 2, kept: 1 }]);
  expect([...plan.rollouts]).toMatchObject([{ drift: true, key: { queryId: dataset.queries.id(1) } }]);
});

test("queries are chosen by id or by number, and an id that no dataset has is refused with the nearest", async () => {
  const { run, dataset } = await prepare({ patch: { ids: ["sap-003", "sap-001"], limit: 1 } });
  expect(chooseQueries(run.config, dataset)).toEqual([0]);
  expect(() => requireKnownIds(run, [dataset])).not.toThrow();
  const wrong = await prepare({ patch: { ids: ["sap-0031"] } });
  expect(() => requireKnownIds(wrong.run, [wrong.dataset])).toThrow(/There is no query "sap-0031"; did you mean/);
});
