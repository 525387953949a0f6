import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { call, itemQuery, lines, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const RUN = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
const PRICE = { steps: [call("get_price", { item_id: "a" })], say: "It costs 7." };
const OUTPUT = "outputs/single/trajectories/Domain1.jsonl";

test("a second run says that everything is there already, and leaves the records as they are", async () => {
  const work = workFolder();
  writeShop(work);
  const first = await work.run(RUN);
  const records = work.read(OUTPUT);
  const second = await work.run(RUN);
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(first.stdout).toContain("3 rollouts in");
  expect(second.stdout).toContain("Everything is there already: 3 rollouts in outputs/single");
  expect(work.read(OUTPUT)).toBe(records);
});

test("more queries are never drift: only what is new is made", async () => {
  const work = workFolder();
  writeShop(work);
  await work.run([...RUN, "--limit", "1"]);
  const { code, stdout } = await work.run(RUN);
  expect(code).toBe(0);
  expect(stdout).toContain("2 rollouts in");
  expect(stdout).toContain("1 kept from before");
  expect(work.records(OUTPUT).map(({ id }) => id)).toEqual(["q1", "q2", "q3"]);
});

test("resume follows its own advice: --no-resume starts next to the run, and that one resumes in its own folder", async () => {
  const work = workFolder();
  writeShop(work);
  await work.run([...RUN, "--quiet"]);
  const records = work.read(OUTPUT);
  const refused = await work.run(["resume", "outputs/single", "--max-turns", "3"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("rollout resume outputs/single --max-turns 3 --no-resume");
  expect((await work.run(["resume", "outputs/single", "--max-turns", "3", "--no-resume", "--quiet"])).code).toBe(0);
  expect(work.read(OUTPUT)).toBe(records);
  const next = "outputs/single.2/trajectories/Domain1.jsonl";
  expect(work.records(next)).toHaveLength(3);
  const again = await work.run(["resume", "outputs/single.2"]);
  expect(again.stdout).toContain("Everything is there already: 3 rollouts in outputs/single.2");
  expect(work.records(next)).toHaveLength(3);
});

test("changed settings are refused by name; --allow-drift marks what it makes; --no-resume goes beside", async () => {
  const work = workFolder();
  writeShop(work);
  await work.run([...RUN, "--limit", "1", "--quiet"]);
  const changed = [...RUN, "--seed", "7", "--max-turns", "3"];
  const records = work.read(OUTPUT);
  const refused = await work.run(changed);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("max_turns: 20 → 3");
  expect(refused.stderr).toContain("seed: 0 → 7");
  expect(refused.stderr).toContain("--seed 7 --max-turns 3 --no-resume");
  expect(work.read(OUTPUT)).toBe(records);

  const beside = await work.run([...changed, "--no-resume", "--quiet"]);
  expect(beside.code).toBe(0);
  expect(work.read(OUTPUT)).toBe(records);
  expect(work.records("outputs/single.2/trajectories/Domain1.jsonl")).toHaveLength(3);

  expect((await work.run([...changed, "--allow-drift", "--quiet"])).code).toBe(0);
  expect(work.records(OUTPUT).map(({ id, metadata }) => [id, metadata.drift])).toEqual([
    ["q1", undefined],
    ["q2", true],
    ["q3", true],
  ]);
});

test("a query whose content changed is drift, and is named", async () => {
  const work = workFolder();
  writeShop(work);
  await work.run([...RUN, "--quiet"]);
  work.write("shop/queries/Domain1.jsonl", lines([itemQuery("q1"), itemQuery("q2", "a chair"), itemQuery("q3")]));
  const { code, stderr } = await work.run(RUN);
  expect(code).toBe(2);
  expect(stderr).toContain("Domain1: the content of query q2 changed");
});

test("infrastructure failures exit with 3, are tried three times in all, never with --no-retry-failed, always with --retry-failed", async () => {
  const work = workFolder();
  // without a plan a scripted model cannot answer: to the run it looks like an unreachable model
  const { task_info: _, ...planless } = itemQuery("q2");
  writeShop(work, { queries: [itemQuery("q1"), { ...planless, task_info: {} }] });
  const failures = () => work.records<{ id: string; attempt: number }>("outputs/single/failures.jsonl");
  const first = await work.run(RUN);
  expect(first.code).toBe(3);
  expect(first.stdout).toContain(
    '1 rollout failed for infrastructure reasons (outputs/single/failures.jsonl):\n  1 × scripted models need a reference plan, and query "q2" has none (task_info.plan)',
  );
  expect(first.stdout).toMatch(/Next:\n {2}npx rollout resume outputs\/single +try the failed ones again\n/);
  expect((await work.run([...RUN, "--no-retry-failed", "--quiet"])).code).toBe(3);
  expect(failures().map(({ attempt }) => attempt)).toEqual([1]);
  for (const _ of [2, 3, 4]) expect((await work.run([...RUN, "--quiet"])).code).toBe(3);
  expect(failures().map(({ id, attempt }) => [id, attempt])).toEqual([
    ["q2", 1],
    ["q2", 2],
    ["q2", 3],
  ]);
  const over = await work.run(RUN);
  expect(over.stdout).toMatch(/npx rollout resume outputs\/single --retry-failed +try the failed ones again, however/);
  const status = await work.run(["status", "outputs/single"]);
  expect(status.stdout).toContain("failed:\n  1 × scripted models need a reference plan");
  expect(status.stdout).toContain("To continue: npx rollout resume outputs/single --retry-failed");
  for (const _ of [4, 5]) expect((await work.run([...RUN, "--quiet", "--retry-failed"])).code).toBe(3);
  expect(failures().map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
  expect(work.records(OUTPUT).map(({ id }) => id)).toEqual(["q1"]);
});

test("what narrows a resume narrows it only this time: nothing of the run is forgotten", async () => {
  const work = workFolder();
  writeShop(work);
  const all = [...RUN.slice(0, 1), "--domains", "Domain1", "Domain2", ...RUN.slice(3), "--rollouts", "2"];
  work.write("shop/queries/Domain2.jsonl", lines([planQuery("p1", [PRICE, { user: "Thanks. ###STOP###" }])]));
  expect((await work.run([...all, "--max-tokens-total", "1", "--max-workers", "1", "--quiet"])).code).toBe(4);
  const resume = ["resume", "outputs/single", "--max-tokens-total", "1000000"];
  for (const [flags, made] of [
    [
      ["--ids", "q2"],
      ["q2", "q2#1"],
    ],
    [
      ["--limit", "1"],
      ["q1", "q1#1", "q2", "q2#1"],
    ],
    [
      ["--dataset", "Domain1", "--rollouts", "1"],
      ["q1", "q1#1", "q2", "q2#1", "q3"],
    ],
  ] as const) {
    const { code, stdout } = await work.run([...resume, ...flags]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Kept \d.*, \d not asked for this time/);
    expect(stdout).toMatch(/npx rollout resume outputs\/single +the \d rollouts? not asked for this time/);
    expect(
      work
        .records(OUTPUT)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(made);
  }
  const { stdout } = await work.run(["status", "outputs/single", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ state: "stopped", totals: { planned: 8 } });
  expect((await work.run(["resume", "outputs/single", "--quiet"])).code).toBe(0);
  expect(work.records(OUTPUT)).toHaveLength(6);
  expect(work.records("outputs/single/trajectories/Domain2.jsonl")).toHaveLength(2);
});

test("a budget stops the run with 4, and the run goes on where it stopped", async () => {
  const work = workFolder();
  writeShop(work);
  const stopped = await work.run([...RUN, "--max-workers", "1", "--max-tokens-total", "1"]);
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toMatch(
    /The budget stopped the run, with 3 rollouts left: \d+ of 1 tokens \(--max-tokens-total\) used\./,
  );
  const status = await work.run(["status", "outputs/single"]);
  expect(status.stdout).toMatch(/stopped by its budget: \d+ of 1 tokens/);
  const command = /npx rollout (resume outputs\/single --max-tokens-total \d+)/;
  const [, shown = ""] = command.exec(stopped.stdout) ?? [];
  expect(command.exec(status.stdout)?.[1]).toBe(shown);
  // what is printed goes on, as far as its budget reaches, and prints the next one; quietly too
  let words = shown.split(" ");
  let quiet = await work.run([...words, "--quiet"]);
  for (let rounds = 0; quiet.code === 4 && rounds < 20; rounds++) {
    expect(quiet.stdout).toBe("");
    const [, further = ""] = command.exec(quiet.stderr) ?? [];
    expect(further).not.toBe(words.join(" "));
    words = further.split(" ");
    quiet = await work.run([...words, "--quiet"]);
  }
  expect([quiet.code, quiet.stderr]).toEqual([0, ""]);
  expect(work.records(OUTPUT)).toHaveLength(3);
});

test("a query whose id another query's rollout would have is refused, with both places, and only where they meet", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("a"), itemQuery("a#1"), itemQuery("a#01"), itemQuery("b#1")] });
  expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
  const ids = () => work.records(OUTPUT).map(({ id }) => id);
  expect(ids().sort()).toEqual(["a", "a#01", "a#1", "b#1"]);
  for (const args of [
    [...RUN, "--rollouts", "2"],
    ["resume", "outputs/single", "--rollouts", "2"],
    [...RUN, "--rollouts", "2", "--dry-run"],
  ]) {
    const { code, stderr } = await work.run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /Domain1\.jsonl:2: .*the id "a#1" of this query is also that of rollout 1 of query "a" \(.*Domain1\.jsonl:1\)/,
    );
  }
  expect(ids()).toHaveLength(4);
});

test("nor may it meet one that the folder holds, of queries or rounds that are no longer asked for", async () => {
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("a")] });
  expect((await work.run([...RUN, "--rollouts", "2", "--quiet"])).code).toBe(0);
  writeShop(work, { queries: [itemQuery("a"), itemQuery("a#1")] });
  const fewer = await work.run(RUN);
  expect([fewer.code, fewer.stderr]).toEqual([2, expect.stringContaining('would both have the id "a#1" in this run')]);
  expect((await work.run([...RUN, "--no-resume", "--quiet"])).code).toBe(0);
  writeShop(work, { queries: [itemQuery("a")] });
  const more = await work.run([...RUN, "--rollouts", "2", "--output-dir", "outputs/single.2"]);
  expect([more.code, more.stderr]).toEqual([2, expect.stringContaining('would both have the id "a#1" in this run')]);
});
