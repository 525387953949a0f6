// Two rollouts and two runs side by side, in a real browser over real runs.
import { join } from "node:path";
import { expect, test } from "vitest";
import { alignMoments } from "../page/compare/align.ts";
import { type JsonNode, readJsonText } from "../page/dialogue/json-text.ts";
import { buildReport, compareReports } from "../src/scoring/index.ts";
import type { Moment } from "../src/viewer/api.ts";
import { single, workFolder } from "./support/cli.ts";
import { openView } from "./support/view-page.ts";

const place = (run: string, id: string) => [run, "StudentHealthServices", id].map(encodeURIComponent).join("/");

test("two rollouts stand side by side, turn by turn, with their first difference marked", async () => {
  const work = workFolder();
  expect((await work.run(single("--agent-model", "scripted/agent?skill=0.5", "--rollouts", "4", "--eval"))).code).toBe(
    0,
  );
  type Record = { id: string; query_id: string; messages: { role: string; content: string; tool_calls?: object }[] };
  const records = work.records<Record>("out/trajectories/StudentHealthServices.jsonl");
  // two rollouts of one query that differ somewhere after the first message
  const [a, b] = records
    .flatMap((one) => records.map((other) => [one, other] as const))
    .find(([one, other]) => {
      if (one.query_id !== other.query_id || one.id === other.id) return false;
      return JSON.stringify(one.messages) !== JSON.stringify(other.messages);
    }) as [Record, Record];
  const { page, goto, texts } = await openView(work.path);

  // from the dialogue's own list of the query's rollouts
  await goto(`/run/out/rollout/StudentHealthServices/${encodeURIComponent(a.id)}`);
  await page.getByRole("link", { name: `Compare with ${b.id}`, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: `${a.id} and ${b.id}` }).waitFor();
  const asked = (record: Record) => record.messages.filter(({ role }) => role === "user").length;
  const turns = await texts("h2.turn");
  expect(turns).toEqual(Array.from({ length: Math.max(asked(a), asked(b)) }, (_, at) => `Turn ${at + 1}`));
  expect(await page.locator("#first-difference").count()).toBe(1);
  // all before it is the same on both sides
  const rows = page.locator(".row");
  const first = await page.evaluate(
    "[...document.querySelectorAll('.row')].findIndex((row) => row.id === 'first-difference')",
  );
  const said = (side: string, at: number) => rows.nth(at).locator(`.pair > :nth-child(${side}) .text`).allInnerTexts();
  for (let at = 0; at < (first as number); at++) expect(await said("1", at)).toEqual(await said("2", at));
  expect(await said("1", first as number)).not.toEqual(await said("2", first as number));
  await page.keyboard.press("d");
  expect(await page.evaluate("document.activeElement.id")).toBe("first-difference");

  // beside each other, and one above the other where there is no room
  const sides = async () =>
    Promise.all([1, 2].map((n) => rows.first().locator(`.pair > :nth-child(${n})`).boundingBox()));
  const [left, right] = await sides();
  expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0));
  await page.setViewportSize({ width: 400, height: 800 });
  const [top, below] = await sides();
  expect(below?.y).toBeGreaterThanOrEqual((top?.y ?? 0) + (top?.height ?? 0));
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  await page.setViewportSize({ width: 1280, height: 800 });

  // the same one twice, one that is not there, and a run beside a rollout
  await goto(`/compare?${new URLSearchParams({ a: place("out", a.id), b: place("out", a.id) })}`);
  await page.getByText("The two dialogues say and do the same.").waitFor();
  await goto(`/compare?${new URLSearchParams({ a: place("out", a.id), b: place("out", "no such") })}`);
  await page.getByText("There is no such run or rollout here.").waitFor();
  await goto(`/compare?${new URLSearchParams({ a: place("out", a.id), b: "out" })}`);
  await page.getByText("A run and a rollout cannot be compared").waitFor();

  // from the table: the first is picked, the second opens the comparison
  await goto("/run/out/rollouts?sort=id&order=up");
  await page.getByRole("button", { name: `Compare ${a.id}`, exact: true }).click();
  await page.getByRole("button", { name: `Compare with ${b.id}`, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: `${a.id} and ${b.id}` }).waitFor();
});

test("two runs: what was won and lost, the paired difference as the report has it, and both dialogues", async () => {
  const work = workFolder();
  const make = (skill: string, out: string, ...more: string[]) =>
    work.run([
      ...[
        "single",
        "--domains",
        "StudentHealthServices",
        "--bundled",
        "--output-dir",
        `runs/${out}`,
        "--quiet",
        "--eval",
      ],
      ...["--agent-model", `scripted/agent?skill=${skill}`, "--rollouts", "3", ...more],
    ]);
  expect((await make("0.5", "weak")).code).toBe(0);
  expect((await make("0.9", "strong", "--limit", "20")).code).toBe(0);
  const reports = ["weak", "strong"].map((run) => buildReport(join(work.path, "runs", run)));
  const comparison = compareReports(reports);
  const difference = comparison.runs[1]?.difference;
  expect(difference?.better).toBeGreaterThan(0);

  const { page, goto, texts } = await openView(`${work.path}/runs`);
  await goto("/");
  await page.getByRole("button", { name: "Compare weak", exact: true }).click();
  await page.getByRole("button", { name: "Compare with strong", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "strong against weak" }).waitFor();
  const said = (await texts(".compare > p")).join(" ");
  expect(said).toContain(`${difference?.better} won, ${difference?.worse} lost, ${difference?.ties} equal`);
  expect(said).toContain(difference?.words.replace("run 2 − run 1: ", ""));
  expect(said).toContain(`${comparison.left_out} queries are in one run only`);

  // one outcome alone, in the address; Back shows all again
  await page.getByRole("link", { name: /^won / }).click();
  await page.waitForURL("**show=won**");
  const rows = page.locator("tbody tr");
  await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(difference?.better);
  expect(new Set(await texts("tbody td:last-child"))).toEqual(new Set(["won"]));
  // a click opens both: the one that failed beside the one that is solved
  await page.locator("tbody a").first().click();
  await page.locator("h2", { hasText: "First:" }).waitFor();
  expect((await texts(".sides > div")).map((side) => /\n(failed|solved)/.exec(side)?.[1])).toEqual([
    "failed",
    "solved",
  ]);
  await page.goBack();
  await page.goBack();
  await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(20);
});

test("turns stay together whatever happened in them", () => {
  const say = (turn: number, by: "user" | "agent", text: string): Moment => ({
    ...{ kind: "message", by, turn, text: { text }, calls: [], marks: [] },
  });
  const a = [say(1, "user", "Hi"), say(1, "agent", "one"), say(1, "agent", "two"), say(2, "user", "Bye")];
  const b = [say(1, "user", "Hi"), say(1, "agent", "one"), say(2, "user", "Bye"), say(3, "user", "More")];
  expect(
    alignMoments(a, b).map(({ turn, pairs }) => [turn, pairs.map(({ differences }) => differences.length > 0)]),
  ).toEqual([
    [1, [false, false, true]],
    [2, [false]],
    [3, [true]],
  ]);
  expect(alignMoments([], [])).toEqual([]);
});

test("JSON is taken apart without changing a character of what it holds", () => {
  const leaves = (node: JsonNode): string[] =>
    node.open === undefined
      ? [node.source]
      : node.members.flatMap(({ key, node: member }) => [...(key === undefined ? [] : [key]), ...leaves(member)]);
  const text = ' {"a" : 1.0, "b": [ -0, 1E400, 12345678901234567890, "x\\"}\\u00e9", null, [], {}], "a": true } ';
  const node = readJsonText(text);
  expect(node && leaves(node)).toEqual([
    ...['"a"', "1.0", '"b"', "-0", "1E400", "12345678901234567890", '"x\\"}\\u00e9"', "null"],
    ...['"a"', "true"],
  ]);
  for (const other of [
    "",
    "1.0",
    '"text"',
    "{",
    "{'a': 1}",
    '{"a":1}{"b":2}',
    "[".repeat(500) + "]".repeat(500),
    "[NaN]",
  ])
    expect(readJsonText(other)).toBeUndefined();
});
