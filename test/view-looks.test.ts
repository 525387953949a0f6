// Every view, light and dark, wide and narrow: nothing that axe-core finds serious, nothing wider than the screen. And
// what a view says where there is little or nothing to be shown.
import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { DESK_RUN, writeDesk } from "./support/desk-dataset.ts";
import { openView, takePage } from "./support/view-page.ts";
import { recordLine, scoreLine, writeRun } from "./support/view-run.ts";
import { printedAddress } from "./support/view-server.ts";

const NOTHING_THERE = ["/run/none", "/nothing", "/seat"];

/** One line for each view, and for what it looks like with little or nothing in it. */
const VIEWS = [
  "/",
  "/run/skill",
  "/run/unscored",
  "/run/dead",
  "/run/skill/rollouts",
  "/run/skill/rollouts?verdict=failed&sort=turns",
  "/run/skill/rollouts?text=appointment&turns.from=2",
  "/run/skill/rollouts?id=nowhere",
  "/run/skill/rollout/StudentHealthServices/shs-001",
  "/run/skill/rollout/StudentHealthServices/shs-001?review=verdict%3Dfailed",
  "/compare",
  "/compare?a=skill",
  "/compare?a=skill&b=weak",
  "/compare?a=skill&b=weak&show=not+comparable",
  "/compare?a=skill%2FStudentHealthServices%2Fshs-001",
  "/compare?a=skill%2FStudentHealthServices%2Fshs-001&b=weak%2FStudentHealthServices%2Fshs-001",
  "/run/skill/review",
  "/run/skill/review?id=nowhere",
  ...NOTHING_THERE,
];

type Finding = unknown[];

/** What axe-core finds serious on what is shown, and whether it is too wide: light and dark, wide and narrow. */
async function look(page: Page, what: string, show: () => Promise<void>): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 });
      await show();
      // taken from the whole context, axe-core asks for a second page, which this browser does not give
      const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
      for (const { id, impact, nodes } of violations)
        if (impact === "serious" || impact === "critical")
          findings.push([what, colorScheme, width, id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 160))]);
      const tooWide = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
      if (tooWide > 0) findings.push([what, colorScheme, width, `${tooWide} px too wide`]);
    }
  }
  return findings;
}

async function writeRuns(folder: WorkFolder): Promise<void> {
  for (const [name, skill] of [
    ["skill", "0.7"],
    ["weak", "0.3"],
  ]) {
    const { code } = await folder.run([
      ...["single", "--bundled", "--domains", "StudentHealthServices", "--limit", "3", "--rollouts", "2", "--eval"],
      ...["--agent-model", `scripted/agent?skill=${skill}`, "--output-dir", `outputs/${name}`, "--quiet"],
    ]);
    expect(code).toBe(0);
  }
  writeRun(join(folder.path, "outputs", "unscored"), { Desk: recordLine({ queryId: "q-1" }) });
  folder.write("models.yml", "models:\n  dead: {provider: openai, api_base: http://127.0.0.1:9/v1}\n");
  const { code } = await folder.run([
    ...["single", "--bundled", "--domains", "StudentHealthServices", "--limit", "2", "--models-config", "models.yml"],
    ...["--agent-model", "openai/dead", "--output-dir", "outputs/dead", "--quiet"],
  ]);
  expect(code).toBe(2);
}

test("every view passes axe-core and fits the screen, light and dark, wide and narrow", {
  timeout: 400_000,
}, async () => {
  const folder = workFolder();
  await writeRuns(folder);
  const { page, goto } = await openView(join(folder.path, "outputs"));
  const findings: Finding[] = [];
  for (const path of VIEWS) {
    findings.push(...(await look(page, path, () => goto(path))));
    const isShown = (await page.locator("main [role=alert]").count()) === 0;
    if (isShown === NOTHING_THERE.includes(path)) findings.push([path, "is not what it should be"]);
  }
  // what is over a view or in it only when it is asked for
  await goto("/run/skill/rollout/StudentHealthServices/shs-001");
  findings.push(
    ...(await look(page, "keys", async () => {
      if ((await page.locator("dialog[open]").count()) === 0) await page.keyboard.press("?");
      await page.getByRole("heading", { name: "Keys" }).waitFor();
    })),
  );
  await page.keyboard.press("Escape");
  await page.locator("#m1").focus();
  await page.keyboard.press("e");
  await page.locator("#m1 button.accept:focus").waitFor();
  await page.keyboard.press("Enter");
  findings.push(
    ...(await look(page, "an annotated message", () =>
      page.getByRole("group", { name: "Your verdict on message 1" }).waitFor(),
    )),
  );
  await goto("/run/skill/rollouts");
  findings.push(
    ...(await look(page, "a table with everything unfolded", async () => {
      await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
    })),
  );
  expect(findings).toEqual([]);
});

test.for([
  ["agent", "--user-model", "scripted/user", "What you say to the user"],
  ["user", "--agent-model", "scripted/agent", "What you say to the agent"],
] as const)(
  "the seat of the %s passes axe-core and fits the screen",
  { timeout: 120_000 },
  async ([side, flag, model, label]) => {
    const work = workFolder();
    writeDesk(work);
    const running = work.start(["play", ...DESK_RUN, "--as", side, flag, model, "--view", "--no-open"]);
    onTestFinished(async () => {
      running.child.kill("SIGINT");
      await running.finished;
    });
    const page = await takePage();
    await page.goto(await printedAddress(running));
    const show = () => page.getByLabel(label).waitFor();
    const findings = await look(page, "asked", show);
    if (side === "agent") {
      await page.getByLabel("Tool", { exact: true }).selectOption("book_desk");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByText("name is needed").waitFor();
      findings.push(...(await look(page, "a form with problems", show)));
    } else {
      await page.getByRole("button", { name: "End: I have what I wanted" }).click();
      findings.push(...(await look(page, "over", () => page.getByText("The dialogue is over: user_stop").waitFor())));
    }
    expect(findings).toEqual([]);
  },
);

test("what is broken, old, empty or no run is said in a sentence, and the rest works", {
  timeout: 120_000,
}, async () => {
  const outputs = join(workFolder().path, "outputs");
  const run = (name: string) => join(outputs, name);
  const [one, two] = [{ queryId: "q-1" }, { queryId: "q-2" }];
  writeRun(run("torn"), { Desk: `${recordLine(one)}{"id":"q-3","mess\n${recordLine(two)}{"id":"q-4"` });
  writeRun(run("unscored"), { Desk: recordLine(one) });
  writeRun(run("scored"), { Desk: recordLine(one) }, { "scores.jsonl": scoreLine(one, "actions", true) });
  writeRun(run("empty"), { Desk: "" });
  writeRun(run("newer"), { Desk: recordLine(one) });
  writeFileSync(join(run("newer"), "manifest.json"), JSON.stringify({ format_version: 99 }));
  writeRun(run("broken"), {});
  writeFileSync(join(run("broken"), "manifest.json"), '{"format_version"');
  const { id, query_id, dataset, success, messages } = JSON.parse(recordLine(one));
  const old = { id, query_id, dataset, success, messages, metadata: { total_turns: 1, stop_reason: "user_stop" } };
  writeRun(run("old"), { Desk: `${JSON.stringify(old)}\n` });
  mkdirSync(run("no-run"));
  writeFileSync(join(run("no-run"), "notes.txt"), "hello");
  const { page, goto, texts } = await openView(outputs);
  const says = async (path: string, words: RegExp) => {
    await goto(path);
    await page.locator("main").filter({ hasText: words }).waitFor();
  };
  await page.locator("main").filter({ hasText: "unscored" }).waitFor();
  expect((await texts("tbody th a")).sort()).toEqual(["broken", "empty", "newer", "old", "scored", "torn", "unscored"]);
  await says("/run/torn", /line 2/);
  await says("/run/torn/rollouts", /2 of 2 rollouts/);
  await says("/run/torn/rollout/Desk/q-2", /Hello\./);
  await says("/run/unscored/rollout/Desk/q-1", /not scored yet/);
  await says("/run/empty/rollouts", /0 of 0 rollouts/);
  await says("/run/newer", /format|version/);
  await says("/run/broken", /manifest/);
  await says("/run/old/rollout/Desk/q-1", /Hello\./);
  await says("/run/no-run", /There is no such run/);
  await says("/run/torn/rollout/Desk/q-9", /There is no such run or rollout/);

  // the files change under the page
  await says("/run/scored/rollouts", /1 of 1 rollouts/);
  const file = join(run("scored"), "trajectories", "Desk.jsonl");
  appendFileSync(file, recordLine(two));
  await page.getByText("2 of 2 rollouts").waitFor();
  truncateSync(file, recordLine(one).length);
  await page.getByText("1 of 1 rollouts").waitFor();
  renameSync(file, `${file}.away`);
  await page.getByText("0 of 0 rollouts").waitFor();
  renameSync(`${file}.away`, file);
  await page.getByText("1 of 1 rollouts").waitFor();
  await goto("/");
  rmSync(run("scored"), { recursive: true });
  await page.getByRole("link", { name: "scored", exact: true }).waitFor({ state: "detached" });
  writeRun(run("later"), { Desk: recordLine(one) });
  await page.getByRole("link", { name: "later", exact: true }).waitFor();
});

test("an empty folder says how to make a run, and shows it when it comes", async () => {
  const outputs = join(workFolder().path, "outputs");
  mkdirSync(outputs);
  const { page } = await openView(outputs);
  await page.getByText("There are no runs here yet").waitFor();
  writeRun(join(outputs, "first"), { Desk: recordLine({ queryId: "q-1" }) });
  await page.getByRole("link", { name: "first", exact: true }).waitFor();
});
