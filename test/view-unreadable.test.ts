// Folders and files that cannot be read, or are none: each is named in a sentence, and the rest is shown.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { DialogueView, RunCard, RunView, TableView } from "../src/viewer/api.ts";
import { single, type WorkFolder, workFolder } from "./support/cli.ts";
import { showView } from "./support/view-page.ts";
import { recordLine, scoreLine, writeRun } from "./support/view-run.ts";
import { STRANGER, startView } from "./support/view-server.ts";

const [one, two] = [{ queryId: "q-1" }, { queryId: "q-2" }];
const FILES = {
  "scores.jsonl": scoreLine(one, "actions", true),
  "annotations.jsonl": `${JSON.stringify({ id: "q-1", query_id: "q-1", rollout: 0, dataset: "Desk", by: "Mei", at: "2026-03-01T00:00:00.000Z", verdict: "accept" })}\n`,
  "failures.jsonl": `${JSON.stringify({ id: "q-9", query_id: "q-9", rollout: 0, dataset: "Desk", attempt: 1, error: "gone", at: "2026-03-01T00:00:00.000Z" })}\n`,
  "journal.jsonl": `${JSON.stringify({ type: "run-note", at: "2026-03-01T00:00:00.000Z", message: "a note" })}\n`,
  "prompts.jsonl": `${JSON.stringify({ hash: "s", kind: "system", content: "Be kind." })}\n`,
};

/** A folder that others may look into; what is shut in it is opened again, so that it can be removed. */
function openFolder(): { work: WorkFolder; outputs: string } {
  const work = workFolder();
  chmodSync(work.path, 0o755);
  const outputs = join(work.path, "outputs");
  onTestFinished(() => void execFileSync("chmod", ["-R", "u+rwX", work.path]));
  mkdirSync(outputs);
  return { work, outputs };
}

const nameOf = ({ name, state }: RunCard) => `${name} ${state}`;

test("a folder that may not be looked into is shown as such, until it may", async () => {
  const { outputs } = openFolder();
  const run = (name: string) => join(outputs, name);
  for (const name of ["open", "shut", "group/deep"]) writeRun(run(name), { Desk: recordLine(one) }, FILES);
  mkdirSync(run("names-only/inner"), { recursive: true });
  chmodSync(run("shut"), 0);
  chmodSync(run("group"), 0);
  chmodSync(run("names-only"), 0o444);
  const server = await startView([outputs], STRANGER);
  const cards = await server.until<RunCard[]>("/api/runs", (all) => all.some(({ state }) => state === "finished"));
  expect(cards.map(nameOf).sort()).toEqual([
    "group unreadable",
    "names-only unreadable",
    "open finished",
    "shut unreadable",
  ]);
  for (const { trouble } of cards.filter(({ state }) => state === "unreadable"))
    expect(trouble).toMatch(/^the folder cannot be read \(.*permission denied/);
  const { page, goto } = await showView(server);
  await goto("/run/shut");
  await page.getByText(/the folder cannot be read/).waitFor();

  for (const name of ["shut", "group", "names-only"]) chmodSync(run(name), 0o755);
  const later = await server.until<RunCard[]>("/api/runs", (all) => all.every(({ state }) => state === "finished"));
  expect(later.map(({ name }) => name).sort()).toEqual(["group/deep", "open", "shut"]);
});

test("a folder that was named and may not be looked into is shown, and so is what else was named", async () => {
  const { work, outputs } = openFolder();
  writeRun(join(outputs, "one"), { Desk: recordLine(one) });
  mkdirSync(join(work.path, "private"), { mode: 0 });
  const { until } = await startView([join(work.path, "private"), outputs], STRANGER);
  const cards = await until<RunCard[]>("/api/runs", (all) => all.some(({ state }) => state === "finished"));
  expect(cards.map(nameOf).sort()).toEqual(["one finished", "private unreadable"]);
});

test.each(["trajectories/Desk.jsonl", ...Object.keys(FILES)])(
  "%s that may not be read is named, the rest of the run is shown, and it is read once it may be",
  async (file) => {
    const { outputs } = openFolder();
    const run = join(outputs, "one");
    writeRun(run, { Desk: recordLine(one), Other: recordLine({ ...two, dataset: "Other" }) }, FILES);
    chmodSync(join(run, file), 0);
    const server = await startView([outputs], STRANGER);
    const isPrompts = file === "prompts.jsonl"; // it is read with a dialogue
    const view = await server.until<RunView>("/api/run/one", ({ card }) => card.state === "finished");
    const named = view.notes.filter((note) => note.includes(file));
    expect(named).toEqual(isPrompts ? [] : [expect.stringMatching(/cannot be read \(.*permission denied/)]);
    const table = await server.get<TableView>("/api/run/one/rollouts");
    expect(table.json.total).toBe(file.startsWith("trajectories") ? 1 : 2);
    const dialogue = await server.get<DialogueView>("/api/run/one/rollout/Other/q-2");
    expect([dialogue.status, dialogue.json.moments?.length]).toEqual([200, 1]);
    if (!file.startsWith("trajectories")) {
      const other = await server.get<DialogueView>("/api/run/one/rollout/Desk/q-1");
      expect([other.status, other.json.moments?.length]).toEqual([200, 1]);
      if (isPrompts) expect(other.json.notes.join()).toMatch(/prompts.*permission denied/);
      expect((await server.get("/api/run/one/rollout/Desk/q-1/annotations")).status).toBe(200);
    }
    chmodSync(join(run, file), 0o644);
    await server.until<RunView>("/api/run/one", ({ notes }) => notes.length === 0);
    await server.until<TableView>("/api/run/one/rollouts", ({ total }) => total === 2);
    await server.until<DialogueView>("/api/run/one/rollout/Desk/q-1", ({ system }) => system === "Be kind.");
  },
);

test("a manifest that may not be read is named", async () => {
  const { outputs } = openFolder();
  for (const name of ["one", "two"]) writeRun(join(outputs, name), { Desk: recordLine(one) });
  chmodSync(join(outputs, "one", "manifest.json"), 0);
  const { until } = await startView([outputs], STRANGER);
  const cards = await until<RunCard[]>("/api/runs", (all) => all.some(({ state }) => state === "finished"));
  expect(cards.map(nameOf).sort()).toEqual(["one unreadable", "two finished"]);
  expect(cards.find(({ name }) => name === "one")?.trouble).toMatch(/manifest\.json: cannot be read \(.*permission/);
});

test("links that lead nowhere or in a circle, pipes and folders instead of files keep nobody waiting", async () => {
  const { outputs } = openFolder();
  const run = (name: string) => join(outputs, name);
  for (const name of ["one", "piped", "folded", "circled"]) writeRun(run(name), { Desk: recordLine(one) });
  symlinkSync(run("self"), run("self"));
  symlinkSync(run("pong"), run("ping"));
  symlinkSync(run("ping"), run("pong"));
  symlinkSync(run("nowhere"), run("dangling"));
  symlinkSync("..", join(run("one"), "up"));
  const records = (name: string) => join(run(name), "trajectories", "Desk.jsonl");
  for (const name of ["piped", "folded", "circled"]) rmSync(records(name));
  execFileSync("mkfifo", [records("piped")]);
  execFileSync("mkfifo", [join(run("piped"), "scores.jsonl"), join(run("piped"), "annotations.jsonl")]);
  mkdirSync(records("folded"));
  symlinkSync(records("circled"), records("circled"));
  mkdirSync(run("pipe-only"));
  execFileSync("mkfifo", [join(run("pipe-only"), "manifest.json")]);
  const { until, get } = await startView([outputs]);
  const cards = await until<RunCard[]>("/api/runs", (all) => all.every(({ state }) => state === "finished"));
  expect(cards.map(({ name }) => name).sort()).toEqual(["circled", "folded", "one", "piped"]);
  for (const [name, why] of [
    ["piped", /Desk\.jsonl: cannot be read \(it is not a plain file\)/],
    ["folded", /Desk\.jsonl: cannot be read \(it is not a plain file\)/],
  ] as const)
    expect((await get<RunView>(`/api/run/${name}`)).json.notes.join("\n")).toMatch(why);
  expect((await get<TableView>("/api/run/one/rollouts")).json.total).toBe(1);
  // a link that begins to go round while the page is open
  renameSync(run("one"), run("moved"));
  symlinkSync(run("one"), run("one"));
  await until<RunCard[]>("/api/runs", (all) => all.some(({ name, done }) => name === "moved" && done === 1));
});

test("on a disk that may not be written to everything is shown, and annotating says that it is not saved", async () => {
  const { work, outputs } = openFolder();
  expect((await work.run([...single("--limit", "2", "--eval"), "--output-dir", "outputs/one"])).code).toBe(0);
  execFileSync("chmod", ["-R", "a-w,a+rX", outputs]);
  const listing = () =>
    readdirSync(outputs, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => {
        const { mtimeMs, ctimeMs, size, ino } = statSync(join(outputs, name));
        return [name, mtimeMs, ctimeMs, size, ino];
      });
  const before = listing();
  const { until, get, send } = await startView([outputs], STRANGER);
  const { rows } = await until<TableView>("/api/run/one/rollouts", ({ isWhole }) => isWhole);
  expect(rows).toHaveLength(2);
  const [row] = rows;
  for (const path of [
    "",
    "/rollouts?text=a",
    `/rollout/${row?.dataset}/${row?.id}`,
    `/rollout/${row?.dataset}/${row?.id}/others`,
  ])
    expect((await get(`/api/run/one${path}`)).status).toBe(200);
  const said = await send("/api/run/one/annotations", {
    dataset: row?.dataset,
    id: row?.id,
    by: "Mei",
    verdict: "accept",
  });
  expect(said.json.error).toMatch(
    /^The annotation is not saved: cannot write to .*annotations\.jsonl \(.*(permission denied|read-only)/,
  );
  expect(listing()).toEqual(before);
});

test("a run that another process writes is read without touching anything of it", async () => {
  const { work, outputs } = openFolder();
  const { until } = await startView([outputs]);
  const args = ["--rollouts", "4", "--max-workers", "2", "--eval", "--output-dir", "outputs/one"];
  const { finished } = work.start([...single(), ...args]);
  await until<TableView>("/api/run/one/rollouts", ({ total = 0 }) => total > 20);
  const { code, stderr } = await finished;
  expect([code, stderr]).toEqual([0, ""]);
  await until<RunCard[]>("/api/runs", ([card]) => card?.state === "finished");
  // a second run of the same plan that nobody looked at
  expect((await work.run([...single(), ...args.slice(0, -1), "alone"])).code).toBe(0);
  const file = "trajectories/StudentHealthServices.jsonl";
  expect(work.canonical(`outputs/one/${file}`)).toEqual(work.canonical(`alone/${file}`));
  const names = (folder: string) => readdirSync(join(work.path, folder), { recursive: true }).sort();
  expect(names("outputs/one")).toEqual(names("alone"));
});
