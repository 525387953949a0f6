// Hostile text in every place where the page shows text: nothing runs, nothing is asked for elsewhere, the layout holds.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { HOSTILE_TEXTS } from "./support/hostile-texts.ts";
import { call, lines, planQuery } from "./support/shop-dataset.ts";
import { openView, takePage } from "./support/view-page.ts";
import { recordLine, writeRun } from "./support/view-run.ts";
import { printedAddress } from "./support/view-server.ts";

const LINES = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");

/** One rollout that says all of them, and one named after each, with everything else about it named so too. */
function writeHostileRun(folder: string): void {
  const keyOf = (text: string) => ({ id: text, query_id: text, rollout: 0, dataset: text });
  const all = HOSTILE_TEXTS.flatMap((text, at) => [
    { role: "user", content: text },
    {
      ...{ role: "assistant", content: text, reasoning_content: text },
      tool_calls: [{ id: at % 2 === 0 ? text : `c${at}`, type: "function", function: { name: text, arguments: text } }],
    },
    { role: "tool", tool_call_id: at % 2 === 0 ? text : `c${at}`, content: text },
  ]);
  const own = (text: string) =>
    recordLine({
      ...{ dataset: text, queryId: text, success: false },
      messages: [{ role: "user", content: text }],
      metadata: {
        ...{ stop_reason: text, blame: text, message: text, system_hash: text, tools_hash: "tools", mode: text },
        ...{ models: { agent: text, user: text, [text]: text }, tool_errors: [text] },
        faults: [{ kind: text, type: text, texts: text, tool: text, call_id: text, detail: text, at: 0 }],
      },
    });
  writeRun(
    folder,
    { Desk: recordLine({ queryId: "all", messages: all, metadata: { tools_hash: "tools", system_hash: "s" } }) },
    {
      "failures.jsonl": LINES(
        HOSTILE_TEXTS.map((text) => ({
          ...{
            ...keyOf(`f ${text}`),
            dataset: "Desk",
            attempt: 1,
            error: text,
            kind: text,
            boundary: text,
            entries: 0,
          },
          ...{ at: text, stack: text },
        })),
      ),
      "scores.jsonl": LINES(
        HOSTILE_TEXTS.flatMap((text) => [
          { ...keyOf(text), check: text, version: 1, record: "r", pass: false, score: 0, reason: text, blame: "agent" },
          {
            ...{
              ...keyOf("all"),
              dataset: "Desk",
              check: text,
              version: 1,
              record: "r",
              pass: false,
              score: 0,
              reason: text,
            },
            details: { [text]: text, missing: [text], state: { final: { [text]: { [text]: text } } } },
          },
        ]),
      ),
      "annotations.jsonl": LINES(
        HOSTILE_TEXTS.flatMap((text, at) => [
          {
            ...keyOf("all"),
            dataset: "Desk",
            by: text,
            at: "2026-01-01T00:00:00.000Z",
            verdict: "reject",
            tags: [text],
            note: text,
          },
          {
            ...keyOf("all"),
            dataset: "Desk",
            by: text,
            at: text,
            message: at * 3,
            verdict: "unsure",
            tags: [text],
            note: text,
          },
        ]),
      ),
      "prompts.jsonl": LINES([
        {
          hash: "tools",
          content: HOSTILE_TEXTS.map((text) => ({
            type: "function",
            function: { name: text, description: text, parameters: { [text]: text } },
          })),
        },
        { hash: "s", content: HOSTILE_TEXTS.join("\n") },
        ...HOSTILE_TEXTS.map((text) => ({ hash: text, content: text })),
      ]),
    },
  );
  const manifest = JSON.parse(readManifest(folder));
  mkdirSync(join(folder, "more"));
  const more = HOSTILE_TEXTS.map((text, at) => {
    const output = join(folder, "more", `${at}.jsonl`);
    writeFileSync(output, own(text));
    return [text, { output, parts: { "agent model": text, "user model": text }, base: text }];
  });
  manifest.datasets = Object.fromEntries([...Object.entries(manifest.datasets), ...more]);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
}

function readManifest(folder: string): string {
  return readFileSync(join(folder, "manifest.json"), "utf8");
}

type Harm = { [kind: string]: unknown };

/** What is on the page that only markup could have brought, and how far it is wider than the window. */
const LOOK = `(() => {
  const short = (elements) => elements.map((element) => element.outerHTML.slice(0, 80));
  const of = (selector) => [...document.querySelectorAll(selector)];
  for (const details of of("details")) details.open = true;
  return {
    ran: window.__all,
    polluted: "polluted" in {},
    foreign: short(of("main :is(script, iframe, img, object, embed, style, link, meta, base, form[action], video, audio, marquee, template, noscript, math, animate)")),
    handlers: short(of("main *").filter((element) => element.getAttributeNames().some((name) => name.startsWith("on")))),
    links: of("[href]").map(({ href }) => String(href)).filter((link) => !link.startsWith(location.origin + "/")),
    failed: of("main [role=alert]").map(({ textContent }) => textContent).filter((text) => text.includes("cannot be shown")),
    tooWide: Math.max(0, document.documentElement.scrollWidth - innerWidth),
  };
})()`;

const NO_HARM: Harm = { ran: [], polluted: false, foreign: [], handlers: [], links: [], failed: [], tooWide: 0 };

/** Notes what runs, and returns what is asked for elsewhere. */
async function watch(page: Page, origin: string): Promise<string[]> {
  await page.addInitScript(
    "window.__all = []; window.__ran = (number) => window.__all.push(number); window.alert = () => window.__all.push(-1);",
  );
  const elsewhere: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:")) elsewhere.push(request.url());
  });
  page.on("dialog", (dialog) => elsewhere.push(dialog.message()));
  return elsewhere;
}

async function findHarm(page: Page, path: string): Promise<Harm[]> {
  const harms: Harm[] = [];
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 800 });
    const harm = (await page.evaluate(LOOK)) as Harm;
    if (JSON.stringify(harm) !== JSON.stringify(NO_HARM)) harms.push({ path, width, ...harm });
  }
  return harms;
}

test("hostile text is only ever text, on every view and at every width", { timeout: 240_000 }, async () => {
  const folder = workFolder();
  const name = "<img src=x onerror=__ran(1)> & 'run' %2e%2e #?";
  writeHostileRun(join(folder.path, "outputs", name));
  writeRun(join(folder.path, "outputs", "__proto__"), { Desk: recordLine({ queryId: "all" }) });
  const { page, origin, goto } = await openView(join(folder.path, "outputs"));
  const elsewhere = await watch(page, origin);
  const run = encodeURIComponent(name);
  const named = HOSTILE_TEXTS.filter((_, at) => at % 9 === 0)
    .concat(["__proto__", "constructor", HOSTILE_TEXTS.find((text) => text.includes("lone")) as string])
    .map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD")));
  const paths = [
    "/",
    "/run/__proto__",
    "/run/__proto__/rollouts",
    `/run/${run}`,
    `/run/${run}/rollouts`,
    `/run/${run}/rollouts?text=${encodeURIComponent("<script>__ran")}&stop=${encodeURIComponent("<svg onload=__ran(1)>")}`,
    `/run/${run}/rollout/Desk/all`,
    `/run/${run}/rollout/Desk/${encodeURIComponent(`f ${HOSTILE_TEXTS[2]}`)}`,
    `/compare?a=${encodeURIComponent(`${run}/Desk/all`)}&b=${encodeURIComponent("__proto__/Desk/all")}`,
    `/compare?a=${encodeURIComponent(run)}&b=__proto__`,
    `/compare?a=${encodeURIComponent(run)}`,
    `/compare?a=${encodeURIComponent(`${run}/Desk/all`)}`,
    `/run/${run}/rollouts?id=${encodeURIComponent("<img src=x onerror=__ran(3)>")}`,
    `/run/${run}/rollout/Desk/all?review=${encodeURIComponent("stop=<b>")}`,
    `/run/${run}/review?sort=${encodeURIComponent("<b>")}`,
    `/run/${encodeURIComponent("<img src=x onerror=__ran(2)>")}`,
    ...named.map((text) => `/run/${run}/rollout/${text}/${text}`),
  ];
  const harms: Harm[] = [];
  page.setDefaultTimeout(8000);
  for (const path of paths) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await goto(path);
    harms.push(...(await findHarm(page, path)));
  }
  expect(harms).toEqual([]);
  expect(elsewhere).toEqual([]);
  await goto(`/run/${run}/rollout/Desk/all`);
  const shown = await page.locator("main").evaluate((main) => main.textContent);
  for (const text of HOSTILE_TEXTS.filter((text) => /^[ -~]+$/.test(text) && !text.startsWith("{")))
    expect(shown.replace(/\s+/g, " ")).toContain(text.replace(/\s+/g, " "));
});

/** A desk that says all of them: in its policy, its scenario, its tools, what they return, and what both sides say. */
function writeHostileDesk(work: WorkFolder): void {
  const all = HOSTILE_TEXTS.join("\n");
  const properties = Object.fromEntries(
    HOSTILE_TEXTS.map((text) => [text, { type: "string", description: text, enum: [text, "x"] }]),
  );
  const tools = [
    { name: "look", description: all, parameters: { type: "object", properties: {} } },
    { name: "pick", description: all, parameters: { type: "object", properties, required: HOSTILE_TEXTS.slice(0, 5) } },
  ];
  const texts = JSON.stringify(HOSTILE_TEXTS);
  work.write(
    "desk/mcp_servers/Desk.mjs",
    `export default { today: "2026-02-02", reads: { look: () => ({ texts: ${texts} }), pick: () => ({ error: ${texts}[2] }) }, writes: {} };`,
  );
  work.write("desk/tool_lists/Desk.json", JSON.stringify(tools.map((tool) => ({ type: "function", function: tool }))));
  work.write("desk/policies/Desk.md", all.replaceAll("\u0000", "")); // it must be a text file
  const said = HOSTILE_TEXTS.filter((text) => !text.startsWith("{{")).join("\n"); // which plans fill in
  const plan = [{ steps: [call("look", {})], say: said }, { user: said, say: said }, { user: "Thanks. ###STOP###" }];
  const query = { ...planQuery("d1", plan), user_system_prompt: all, messages: [{ role: "user", content: all }] };
  work.write("desk/queries/Desk.jsonl", lines([query]));
}

test.for([
  ["agent", "--user-model", "scripted/user"],
  ["user", "--agent-model", "scripted/agent"],
] as const)(
  "hostile text is only ever text on the seat of the %s",
  { timeout: 120_000 },
  async ([side, flag, model]) => {
    const work = workFolder();
    writeHostileDesk(work);
    const running = work.start([
      ...["play", "Desk", "--base-path", "desk", "--output-dir", "out", "--as", side, flag, model],
      ...["--view", "--no-open"],
    ]);
    onTestFinished(async () => {
      running.child.kill("SIGINT");
      await running.finished;
    });
    const address = await printedAddress(running);
    const page = await takePage();
    const elsewhere = await watch(page, new URL(address).origin);
    await page.goto(address);
    await page.locator("#seat-content").waitFor();
    const harms = await findHarm(page, "begin");
    if (side === "agent") {
      await page.getByLabel("Tool", { exact: true }).selectOption("pick");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByText("is needed").first().waitFor();
      harms.push(...(await findHarm(page, "form")));
      await page.getByLabel("Tool", { exact: true }).selectOption("look");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByText("look answered").waitFor();
    } else {
      await page.locator("#seat-content").fill(HOSTILE_TEXTS[0] as string);
      await page.getByRole("button", { name: "Say" }).click();
      await page.locator(".seat-item.mine", { hasText: HOSTILE_TEXTS[0] }).nth(1).waitFor();
    }
    harms.push(...(await findHarm(page, "on")));
    expect(harms).toEqual([]);
    expect(elsewhere).toEqual([]);
    const shown = await page.locator("main").evaluate((main) => main.textContent);
    expect(shown).toContain(HOSTILE_TEXTS[2]);
  },
);
