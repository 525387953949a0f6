// Runs, one run and the table of rollouts, in a real browser over real run folders: what is to be seen is waited for.
import { appendFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openBrowser } from "./support/browser.ts";
import { single, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, failing, serveModel } from "./support/model-server.ts";
import { recordLine, writeRun } from "./support/view-run.ts";

type Shown = { page: Page; go(path: string): Promise<void>; heading(): Promise<string> };

/** The page in a browser of its own; an error in its scripts, or what its policy refuses, fails the test. */
async function show(address: string): Promise<Shown> {
  const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) errors.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  await page.goto(address);
  await page.getByRole("link", { name: "Rollout", exact: true }).waitFor();
  return {
    page,
    go: async (path) => void (await page.goto(new URL(path, address).href)),
    heading: async () => (await page.locator("h1").first().textContent()) ?? "",
  };
}

/** `rollout view` over the folder, until the end of the test. */
async function view(work: WorkFolder, ...folders: string[]): Promise<Shown> {
  const { child, finished } = work.start(["view", ...folders, "--no-open"]);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    expect((await finished).code).toBe(0);
  });
  const address = await new Promise<string>((resolve) => {
    child.stdout?.once("data", (text: string) => resolve(text.split("\n")[0] as string));
  });
  return show(address);
}

const serious = async (page: Page) =>
  (await new AxeBuilder({ page }).analyze()).violations.filter(
    ({ impact }) => impact === "serious" || impact === "critical",
  );

const skilled = single("--agent-model", "scripted/agent?skill=0.6", "--rollouts", "3", "--limit", "8", "--eval");

test("a run's pictures lead to the rollouts behind them, and Back leads back", async () => {
  const work = workFolder();
  expect((await work.run(skilled)).code).toBe(0);
  const { page, heading } = await view(work, "out");
  await page.getByRole("cell", { name: "finished" }).waitFor();
  expect(await page.locator("tr", { hasText: "24/24" }).textContent()).toMatch(/pass|%.*–/);
  await page.getByRole("link", { name: "out", exact: true }).click();
  await page.getByRole("heading", { name: "pass@k and pass^k" }).waitFor();
  expect(await serious(page)).toEqual([]);
  for (const title of [
    "Finished over time",
    "Verdicts",
    "Scores by check",
    "Stop reasons",
    "Turns",
    "Steps",
    "Seconds",
  ])
    await page.getByRole("heading", { name: title }).waitFor();

  const scores = work.records<{ id: string; check: string; pass: boolean | null }>("out/scores.jsonl");
  const failed = scores.filter(({ check, pass }) => check === "actions" && pass === false).length;
  expect(failed).toBeGreaterThan(0);
  const bar = page.getByRole("link", { name: /^actions failed/ });
  expect(await bar.textContent()).toBe(`actions failed${failed}`);
  await bar.click();
  await page.getByRole("heading", { name: `${failed} of 24 rollouts` }).waitFor();
  expect(await page.getByRole("link", { name: /^shs-/ }).count()).toBe(failed);
  await page.goBack();
  await page.getByRole("heading", { name: "pass@k and pass^k" }).waitFor();

  // a point of a curve, with the keyboard
  const point = page.getByRole("link", { name: /^pass\^3: / });
  await point.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /24 of 24 rollouts|\d+ of 24 rollouts/ }).waitFor();
  expect(await heading()).toContain("of 24 rollouts");
});

test("the table is filtered, sorted and searched, and its address says it all", async () => {
  const work = workFolder();
  await work.run(skilled);
  const { page, go, heading } = await view(work, "out");
  await go("/run/out/rollouts");
  await page.getByRole("heading", { name: "24 of 24 rollouts" }).waitFor();
  expect(await serious(page)).toEqual([]);
  await page.getByLabel("failed", { exact: false }).first().check();
  await page.getByText("Remove all filters").waitFor();
  await page.locator('section[aria-busy="false"]').waitFor();
  const chosen = await heading();
  expect(chosen).not.toMatch(/^24 /);

  await page.getByRole("link", { name: /^turns/ }).click();
  await page.locator('th[aria-sort="descending"]', { hasText: "turns" }).waitFor();
  await page.locator('section[aria-busy="false"]').waitFor();
  const turns = async () =>
    (await page.locator("table.rollouts tbody tr td:nth-child(7)").allTextContents()).map(Number);
  expect(await turns()).toEqual((await turns()).toSorted((a, b) => b - a));
  const address = page.url();
  await page.reload();
  await page.getByRole("heading", { name: chosen }).waitFor();
  expect(page.url()).toBe(address);

  // a text of one dialogue, in other letters
  const [record] = work.records("out/trajectories/StudentHealthServices.jsonl");
  const words = String(record?.messages[0]?.content).slice(0, 30);
  await page.getByText("Remove all filters").click();
  await page.getByRole("heading", { name: "24 of 24 rollouts" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(words.toUpperCase());
  await page.keyboard.press("Enter");
  await page.getByText(/MB searched in/).waitFor();
  const ids = work
    .records("out/trajectories/StudentHealthServices.jsonl")
    .filter(({ messages }) => messages.some(({ content }) => content.includes(words)))
    .map(({ id }) => id);
  await page.getByRole("heading", { name: `${ids.length} of 24 rollouts` }).waitFor();
  expect((await page.locator("a.rollout").allTextContents()).sort()).toEqual(ids.sort());
  expect(await page.locator(".excerpt").first().textContent()).toContain(words.slice(0, 20));
  expect(new URL(page.url()).searchParams.get("text")).toBe(words.toUpperCase());

  // with the keyboard alone: to the first row, and into it
  await page.locator("h1").click();
  await page.keyboard.press("j");
  const first = await page.locator("a.rollout").first().textContent();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/rollout/StudentHealthServices/${encodeURIComponent(first as string)}`);
  await page.goBack();
  await page.getByRole("heading", { name: `${ids.length} of 24 rollouts` }).waitFor();
});

test("a large table has pages, and texts in it are never markup", async () => {
  const work = workFolder();
  const hostile = "<img src=x onerror=window.hit=1>";
  const lines = Array.from({ length: 250 }, (_, at) =>
    recordLine({
      queryId: at === 7 ? `${hostile}${at}` : `q-${String(at).padStart(3, "0")}`,
      dataset: hostile,
      messages: [{ role: "user", content: `${hostile} needle` }],
      metadata: { stop_reason: hostile },
    }),
  );
  writeRun(join(work.path, "out"), { [hostile]: "" }, {});
  writeRun(join(work.path, "out"), {
    Desk: lines.join("").replaceAll(`"dataset":${JSON.stringify(hostile)}`, '"dataset":"Desk"'),
  });
  const { page, go } = await view(work, "out");
  await go("/run/out/rollouts?sort=id&order=up&text=needle");
  await page.getByText("1 – 100 of 250").first().waitFor();
  expect(await page.locator("a.rollout").first().textContent()).toBe(`${hostile}7`);
  expect(await page.locator("main").textContent()).toContain(`${hostile} needle`);
  await page.keyboard.press("n");
  await page.getByText("101 – 200 of 250").first().waitFor();
  await page.getByRole("link", { name: "last" }).first().click();
  await page.getByText("201 – 250 of 250").first().waitFor();
  await page.goBack();
  await page.getByText("101 – 200 of 250").first().waitFor();
  await go("/run/out");
  await page.getByRole("heading", { name: "Stop reasons" }).waitFor();
  expect(await page.evaluate("[window.hit, document.querySelectorAll('main img').length]")).toEqual([undefined, 0]);
});

test("--view shows a run while it goes on: what it waits for, what failed and what to do", async () => {
  const work = workFolder();
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answer = JSON.stringify(completion({ content: "Done. ###STOP###" }));
  let calls = 0;
  const server = await serveModel((response) => {
    const isFirst = ++calls === 1;
    if (!isFirst && calls % 2 === 0) return failing(400, { error: { message: "no such thing" } })(response);
    void (isFirst ? Promise.resolve() : released).then(() =>
      response.setHeader("content-type", "application/json").end(answer),
    );
  });
  onTestFinished(() => server.close());
  work.write("models.yml", `models:\n  slow:\n    provider: openai\n    api_base: ${server.baseUrl}\n`);
  const { child, finished } = work.start([
    ...single("--agent-model", "openai/slow", "--models-config", "models.yml", "--limit", "6", "--view"),
    ...["--max-workers", "6", "--user-model", "scripted/user"],
  ]);
  const address = await new Promise<string>((resolve) => {
    let said = "";
    child.stderr?.on("data", (text: string) => {
      said += text;
      const found = /http:\S+token=\S+/.exec(said);
      if (found) resolve(found[0]);
    });
  });
  const { page } = await show(address);
  await page.getByRole("cell", { name: "running" }).first().waitFor();
  await page.getByRole("link", { name: "out", exact: true }).click();
  await page.getByText(/\d in flight, \d waiting/).waitFor();
  release();
  const { code, stderr } = await finished;
  expect(stderr.indexOf("The run can be watched at")).toBe(0);
  expect([0, 2, 3], stderr).toContain(code);
  await page.getByText("The server cannot be reached; what you see may be old.").waitFor();
  const gone = await page.locator(".lost").textContent();
  expect(gone).toContain("part of a run (--view) that is over");
  expect(gone).toContain(`To look again: npx rollout view ${realpathSync(join(work.path, "out"))}`);
});

test("a run that appears, goes on, is replaced and is deleted is followed without a reload", async () => {
  const work = workFolder();
  const runs = join(work.path, "outputs");
  writeRun(join(runs, "first"), { Desk: recordLine({ queryId: "q-1" }) });
  const { page, go } = await view(work);
  await page.getByRole("link", { name: "first" }).waitFor();
  writeRun(join(runs, "second"), { Desk: recordLine({ queryId: "q-1" }) + recordLine({ queryId: "q-2" }) });
  await page.getByRole("link", { name: "second" }).waitFor();

  await go("/run/second/rollouts");
  await page.getByRole("heading", { name: "2 of 2 rollouts" }).waitFor();
  const file = join(runs, "second", "trajectories", "Desk.jsonl");
  appendFileSync(file, `${recordLine({ queryId: "q-3" })}{"id":"torn`);
  await page.getByRole("heading", { name: "3 of 3 rollouts" }).waitFor();
  writeRun(join(work.path, "aside"), { Desk: recordLine({ queryId: "other" }) });
  renameSync(join(work.path, "aside", "trajectories", "Desk.jsonl"), file);
  await page.getByRole("heading", { name: "1 of 1 rollouts" }).waitFor();
  await page.getByRole("link", { name: "other" }).waitFor();
  appendFileSync(file, "{broken}\n");
  await go("/run/second");
  await page.getByText(/1 damaged line left out/).waitFor();
  rmSync(join(runs, "second"), { recursive: true });
  await page.getByText("There is no such run or rollout here.").waitFor();
  await go("/");
  await page.getByRole("link", { name: "first" }).waitFor();
  expect(await page.getByRole("link", { name: "second" }).count()).toBe(0);
});

test("failures are told by class with what to do, and how to go on; a wrong setup is a failed run", async () => {
  const work = workFolder();
  const refused = failing(400, { error: { message: "no such thing" } });
  const answer = completion({ content: "Done." });
  const [half, none] = [await serveModel(answer, answer, refused), await serveModel(failing(401, "who are you"))];
  onTestFinished(async () => {
    await half.close();
    await none.close();
  });
  const entry = (url: string) => `    provider: openai\n    api_base: ${url}\n`;
  work.write("models.yml", `models:\n  half:\n${entry(half.baseUrl)}  none:\n${entry(none.baseUrl)}`);
  const run = (model: string, folder: string) =>
    work.run([
      ...["single", "--domains", "StudentHealthServices", "--bundled", "--quiet", "--models-config", "models.yml"],
      ...[
        "--agent-model",
        `openai/${model}`,
        "--limit",
        "4",
        "--max-workers",
        "1",
        "--output-dir",
        `outputs/${folder}`,
      ],
    ]);
  expect((await run("half", "half")).code).toBe(3);
  expect((await run("none", "none")).code).toBe(2);
  const { page, go } = await view(work);
  await page.getByRole("cell", { name: "failed", exact: true }).first().waitFor();
  await go("/run/half");
  await page.getByText(/\d × refused/).waitFor();
  expect(await page.getByRole("region", { name: "Failures" }).textContent()).toMatch(
    /no such thing.*Correct what the server complains about; then try them again\..*One of them: shs-/s,
  );
  await page.getByText(/npx rollout resume \S*outputs\/half/).waitFor();
  await go("/run/none");
  await page.getByRole("heading", { name: "none failed" }).waitFor();
  expect(await page.locator("main").textContent()).toMatch(/401|who are you/);
});
