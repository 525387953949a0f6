// Annotating in a real browser against the real server: the review queue with the keyboard alone, several annotators at
// once, hostile texts, and what is refused.
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeRun } from "./support/annotated-run.ts";
import { openBrowser } from "./support/browser.ts";
import { WorkFolder } from "./support/cli.ts";
import { startView } from "./support/view-server.ts";

const DATASET = "StudentHealthServices";
const root = mkdtempSync(join(tmpdir(), "rollout-annotate-"));
const base = join(root, "base");
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(() => makeRun(base));

let copies = 0;
function copyRun(): string {
  const run = join(root, `run-${++copies}`);
  cpSync(base, run, { recursive: true });
  return run;
}

type Line = { [member: string]: unknown };
const linesOf = (run: string): Line[] =>
  readFileSync(join(run, "annotations.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

async function openPage(address: string): Promise<Page> {
  const context = await (await openBrowser()).newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.goto(address);
  return page;
}

const status = (page: Page, text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
const saved = (page: Page) => status(page, "Changes are saved.");

test("a review of a filter works with the keyboard alone, and Back and reload keep it", async () => {
  const run = copyRun();
  const key = { id: "shs-001", query_id: "shs-001", rollout: 0, dataset: DATASET, at: "2026-01-01T00:00:00.000Z" };
  const earlier = { ...key, by: "bob", verdict: "accept", note: "fine with me" };
  appendFileSync(join(run, "annotations.jsonl"), `${JSON.stringify(earlier)}\n`);
  const server = await startView([run, "--annotator", "Mei Lin"]);
  const page = await openPage(server.address);
  const name = run.split("/").at(-1) as string;
  await page.goto(`${server.origin}/run/${name}/rollouts?sort=id&order=up&id=shs-001`);
  await page.getByRole("link", { name: "Review" }).waitFor();
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "shs-001", exact: true }).waitFor();
  await status(page, "Review: 2 of 2 left.");

  // what others said is not shown before one has judged
  await page.getByText("Others' words are shown once you have judged.").waitFor();
  expect(await page.getByText("fine with me").count()).toBe(0);
  await page.keyboard.press("a");
  await page.getByText("fine with me").waitFor();
  await status(page, "Review: 1 of 2 left.");
  await page.keyboard.press("t");
  await page.keyboard.type("polite");
  await page.keyboard.press("Enter");
  await page.keyboard.type("short");
  await page.keyboard.press("Escape");
  await page.keyboard.press("m");
  await page.keyboard.type("a x u: keys are letters in here");
  await page.keyboard.press("Escape");
  await saved(page);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "shs-001#1" }).waitFor();
  await status(page, "Review: 1 of 2 left.");
  // skipped with Enter, it stays in the queue: nothing else is left
  await page.keyboard.press("Enter");
  await status(page, "Only this one is left.");
  await page.reload();
  await status(page, "Review: 1 of 2 left.");
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.filter(({ impact }) => impact === "serious" || impact === "critical")).toEqual([]);
  await page.keyboard.press("x");
  await page.keyboard.press("u");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "All reviewed" }).waitFor();
  await status(page, "Mei Lin has given a verdict on all 2 of them.");

  const own = { dataset: DATASET, query_id: "shs-001", by: "Mei Lin" };
  const last = new Map(linesOf(run).flatMap((line) => (line.by === "bob" ? [] : [[line.id, line]])));
  expect([...last.values()]).toMatchObject([
    { ...own, id: "shs-001", rollout: 0, verdict: "accept", tags: ["polite", "short"] },
    { ...own, id: "shs-001#1", rollout: 1, verdict: "unsure" },
  ]);
  expect(last.get("shs-001")?.note).toBe("a x u: keys are letters in here");

  await page.goBack();
  await page.getByRole("heading", { name: "shs-001#1" }).waitFor();
  await page.getByRole("button", { name: "unsure" }).and(page.locator("[aria-pressed=true]")).waitFor();
  await page.goto(`${server.origin}/run/${name}/rollouts?annotation=accept&tag=polite`);
  await page.getByRole("heading", { name: "1 of 4 rollouts" }).waitFor();
  await page.getByRole("row", { name: /shs-001 .*accept polite short/ }).waitFor();
});

test("two servers on one folder: each annotator sees the other's words as they come, and mixed ones are found", async () => {
  const run = copyRun();
  const [one, other] = [await startView([run, "--annotator", "ann"]), await startView([run, "--annotator", "bob"])];
  const name = run.split("/").at(-1) as string;
  const place = `/run/${name}/rollout/${DATASET}/shs-002`;
  const pages = [await openPage(one.address), await openPage(other.address)] as const;
  await pages[0].goto(one.origin + place);
  await pages[1].goto(other.origin + place);
  await pages[0].getByRole("button", { name: "accept" }).first().waitFor();
  await pages[0].keyboard.press("a");
  const panel = pages[1].getByRole("region", { name: "Annotation of this dialogue" });
  await panel.getByRole("listitem").filter({ hasText: "ann accept" }).waitFor();
  await pages[1].keyboard.press("x");
  await saved(pages[1]);
  await pages[0].getByRole("listitem").filter({ hasText: "bob reject" }).waitFor();
  await pages[0].goto(`${one.origin}/run/${name}/rollouts?annotation=mixed`);
  await pages[0].getByRole("heading", { name: "1 of 4 rollouts" }).waitFor();
  await pages[0].getByRole("row", { name: /shs-002 .*mixed/ }).waitFor();

  // the name can be changed on the page, and stays after a reload
  await pages[1].getByRole("button", { name: "Change" }).click();
  await pages[1].keyboard.press("Control+A");
  await pages[1].keyboard.type("carol");
  await pages[1].keyboard.press("Enter");
  await panel.getByRole("listitem").filter({ hasText: "bob reject" }).waitFor();
  await pages[1].reload();
  await panel.getByText("You annotate as carol").waitFor();
  await pages[1].getByRole("button", { name: "accept" }).first().click();
  await saved(pages[1]);
  await pages[1].getByRole("button", { name: "accept" }).first().click(); // the same again says nothing new
  await pages[1].getByRole("button", { name: "Clear your verdict on this dialogue" }).click();
  await pages[1].getByRole("button", { name: "Clear your verdict on this dialogue" }).waitFor({ state: "detached" });
  await saved(pages[1]);
  expect(linesOf(run).map(({ by, verdict }) => [by, verdict])).toEqual([
    ["ann", "accept"],
    ["bob", "reject"],
    ["carol", "accept"],
    ["carol", undefined],
  ]);
});

test("one message is annotated, and hostile names, tags and notes are shown as text", async () => {
  const run = copyRun();
  const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
  const key = { id: "shs-001", query_id: "shs-001", rollout: 0, dataset: DATASET, at: "2026-01-01T00:00:00.000Z" };
  const words = {
    by: hostile,
    verdict: "reject",
    tags: [hostile, "javascript:alert(1)"],
    note: `${hostile}\u202e\u0000`,
  };
  for (const message of [undefined, 1])
    appendFileSync(join(run, "annotations.jsonl"), `${JSON.stringify({ ...key, ...words, message })}\n`);
  const server = await startView([run, "--annotator", "<b>me</b>"]);
  const page = await openPage(server.address);
  const name = run.split("/").at(-1) as string;
  await page.goto(`${server.origin}/run/${name}/rollout/${DATASET}/shs-001`);
  await page.getByRole("button", { name: "Annotate message 1", exact: true }).click();
  const group = page.getByRole("group", { name: "Your verdict on message 1", exact: true });
  await group.getByRole("button", { name: "reject" }).click();
  await page.getByRole("textbox", { name: "Your note on message 1", exact: true }).fill(hostile);
  await page
    .getByRole("combobox", { name: "Add a tag to message 1", exact: true })
    .fill(`${hostile.slice(0, 50)}, !not`);
  await page.getByRole("combobox", { name: "Add a tag to message 1", exact: true }).press("Enter");
  await page.getByRole("alert").filter({ hasText: 'A tag must have no comma and not begin with "!"' }).waitFor();
  await page.getByRole("button", { name: "Remove the tag !not from message 1" }).click();
  await saved(page);
  expect(linesOf(run).at(-1)).toMatchObject({ message: 1, verdict: "reject", note: hostile, by: "<b>me</b>" });
  await page.goto(`${server.origin}/run/${name}/rollouts`);
  await page.getByRole("cell").getByText("javascript:alert(1)").first().waitFor();
  expect(await page.locator("img, main script, main b").count()).toBe(0);
  expect(await page.title()).not.toBe("owned");
});

test("what the server refuses gets 4xx and a sentence, and nothing is written", async () => {
  const run = copyRun();
  const server = await startView([run]);
  const name = run.split("/").at(-1) as string;
  const good = { dataset: DATASET, id: "shs-001", by: "ann", verdict: "accept" };
  const send = (body: string, headers: { [name: string]: string } = {}, to = name) =>
    fetch(`${server.origin}/api/run/${to}/annotations`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", cookie: server.cookie, ...headers },
    });
  const refused: [body: unknown, status: number, error: RegExp][] = [
    [{ ...good, id: "shs-999" }, 404, /no finished rollout shs-999/],
    [{ ...good, dataset: "../../etc" }, 404, /no finished rollout/],
    [{ ...good, message: 1e6 }, 400, /no message 1000000/],
    [{ ...good, message: -1 }, 400, /at least 0/],
    [{ ...good, message: "1" }, 400, /whole number/],
    [{ ...good, verdict: "maybe" }, 400, /one of accept, reject, unsure/],
    [{ ...good, by: " \n" }, 400, /name must not be empty/],
    [{ ...good, by: "a\u0007" }, 400, /control characters/],
    [{ ...good, by: undefined }, 400, /name must be a text/],
    [{ ...good, tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, 400, /at most 20 tags/],
    [{ ...good, tags: ["x".repeat(61)] }, 400, /at most 60 characters/],
    [{ ...good, tags: ["a,b"] }, 400, /no comma/],
    [{ ...good, tags: "a" }, 400, /must be a list/],
    [{ ...good, note: "é".repeat(6000) }, 400, /at most 10240 bytes/],
    [{ ...good, other: 1 }, 400, /unknown member: other/],
    [[], 400, /JSON object/],
    [{ ...good, note: "x".repeat(70_000) }, 413, /at most 64 KB/],
  ];
  for (const [body, code, error] of refused) {
    const answer = await send(JSON.stringify(body));
    expect([JSON.stringify(body).slice(0, 80), answer.status]).toEqual([JSON.stringify(body).slice(0, 80), code]);
    expect(((await answer.json()) as { error: string }).error).toMatch(error);
  }
  const text = JSON.stringify(good);
  expect((await send("{")).status).toBe(400);
  expect((await send(text, { "content-type": "text/plain" })).status).toBe(415);
  expect((await send(text, { cookie: "rollout=wrong" })).status).toBe(403);
  expect((await send(text, { origin: "http://evil.example" })).status).toBe(403);
  expect((await send(text, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await send(text, {}, "nowhere")).status).toBe(404);
  expect(() => readFileSync(join(run, "annotations.jsonl"))).toThrow(/ENOENT/);
  expect((await send(text)).status).toBe(200);
  expect(linesOf(run)).toMatchObject([good]);
});

test("an annotation that cannot be written is not shown as saved, and can be sent again", async () => {
  const run = copyRun();
  const server = await startView([run, "--annotator", "ann"]);
  const page = await openPage(server.address);
  const name = run.split("/").at(-1) as string;
  await page.goto(`${server.origin}/run/${name}/rollout/${DATASET}/shs-001?review=`);
  await page.getByRole("button", { name: "accept" }).first().waitFor();
  await page.route("**/annotations", (route) =>
    route.request().method() === "POST" ? route.abort() : route.continue(),
  );
  await page.keyboard.press("a");
  await page.getByRole("alert").filter({ hasText: "Not saved: The server cannot be reached" }).waitFor();
  await page.keyboard.press("Enter");
  await status(page, "This one is not saved yet.");
  await page.unroute("**/annotations");
  await page.getByRole("button", { name: "Try again" }).click();
  await saved(page);
  expect(linesOf(run)).toMatchObject([{ id: "shs-001", by: "ann", verdict: "accept" }]);
});

test("rollouts are annotated while their run goes on, and the run does not notice", async () => {
  const name = `live-${++copies}`;
  const run = join(root, name);
  const work = new WorkFolder(root);
  const server = await startView([root, "--annotator", "ann"]);
  const args = [
    "single",
    "--all",
    "--bundled",
    "--rollouts",
    "4",
    "--max-workers",
    "2",
    "--output-dir",
    name,
    "--quiet",
  ];
  const { finished } = work.start(args);
  const ask = async (path: string) =>
    (await fetch(server.origin + path, { headers: { cookie: server.cookie } })).json() as Promise<{
      rows?: { dataset: string; id: string }[];
      chosen?: number;
      total?: number;
    }>;
  let rows: { dataset: string; id: string }[] = [];
  while (rows.length === 0) rows = (await ask(`/api/run/${name}/rollouts?limit=5`)).rows ?? [];
  for (const { dataset, id } of rows) {
    const headers = { "content-type": "application/json", cookie: server.cookie };
    const body = JSON.stringify({ dataset, id, by: "ann", verdict: "accept" });
    const answer = await fetch(`${server.origin}/api/run/${name}/annotations`, { method: "POST", body, headers });
    expect(answer.status).toBe(200);
  }
  expect(await finished).toEqual({ code: 0, stdout: "", stderr: "" });
  for (;;) {
    const { total, chosen } = await ask(`/api/run/${name}/rollouts?annotation=accept`);
    if (total === 324) {
      expect(chosen).toBe(rows.length);
      break;
    }
  }
  expect(linesOf(run)).toHaveLength(rows.length);
  expect((await work.run(["status", name, "--verify"])).code).toBe(0);
});
