// How the page behaves under the hands: keys on every view, where the focus goes, Back and reload, what stays quiet until
// it is looked at, and what is said where there is nothing.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { openView } from "./support/view-page.ts";
import { recordLine, scoreLine, writeRun } from "./support/view-run.ts";

const QUERIES = ["q-1", "q-2", "q-3"].flatMap((queryId) => [0, 1].map((rollout) => ({ queryId, rollout })));

function writeTwo(folder: string): void {
  for (const [name, solved] of [
    ["good", 5],
    ["poor", 2],
  ] as const)
    writeRun(
      join(folder, name),
      { Desk: QUERIES.map((query) => recordLine({ ...query, messages: MESSAGES })).join("") },
      { "scores.jsonl": QUERIES.map((query, at) => scoreLine(query, "actions", at < solved)).join("") },
    );
}

const MESSAGES = [
  { role: "user", content: "Hello." },
  { role: "assistant", content: "Good morning." },
];

const focusText = (page: Page) => page.evaluate("document.activeElement?.textContent") as Promise<string>;
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();

test("the page is walked from the runs to one message with the keyboard alone, and Back and reload keep each view", {
  timeout: 60_000,
}, async () => {
  const folder = join(workFolder().path, "outputs");
  writeTwo(folder);
  const { page, goto } = await openView(folder);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("link", { name: "good", exact: true }).waitFor();
  await page.keyboard.press("j");
  const first = await focusText(page);
  await page.keyboard.press("j");
  expect([first, await focusText(page)].sort()).toEqual(["good", "poor"]);
  await page.keyboard.press("k");
  expect(await focusText(page)).toBe(first);
  await page.keyboard.press("Enter");
  await heading(page, new RegExp(`^${first}`));
  expect(await page.title()).toBe(`${first} · Rollout`);
  expect(await page.evaluate("document.activeElement?.id")).toBe("main"); // and not on a link that is gone
  await page.keyboard.press("t");
  await heading(page, "6 of 6 rollouts");
  await page.keyboard.press("j");
  const id = await focusText(page);
  await page.keyboard.press("Enter");
  await heading(page, id);
  await page.getByText("You annotate as").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(await page.evaluate("document.activeElement?.id")).toBe("m1");
  await page.keyboard.press("e");
  await page.locator("#m1 button.accept:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Clear your verdict on message 1" }).waitFor();

  await page.reload();
  await heading(page, id);
  await page.getByRole("button", { name: "Clear your verdict on message 1" }).waitFor();
  await page.goBack();
  await heading(page, "6 of 6 rollouts");
  await page.getByRole("checkbox", { name: /^solved/ }).check();
  await page.waitForURL(/verdict=solved/);
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("#m1").waitFor();
  await page.keyboard.press("b"); // to the table as it was left
  await page.waitForURL(/rollouts\?verdict=solved$/);
  await page.keyboard.press("g");
  await heading(page, "Runs");

  // two runs, and two dialogues of them
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await heading(page, /^(good against poor|poor against good)$/);
  await page.keyboard.press("w");
  await page.waitForURL(/show=won/);
  await page.goBack();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await heading(page, /^q-\d.* and q-\d/);
  await goto("/compare?a=good");
  await page.keyboard.press("j");
  expect(await focusText(page)).toBe("poor");
});

test("? names the keys of every view, and each that it names does something", async () => {
  const folder = join(workFolder().path, "outputs");
  writeTwo(folder);
  const { page, goto, texts } = await openView(folder);
  for (const [path, title, key] of [
    ["/", "Runs", "the next run; Enter opens it"],
    ["/run/good", "This run", "the table of rollouts"],
    ["/run/good/rollouts", "Table", "search in the dialogues"],
    ["/run/good/rollout/Desk/q-1", "Annotating", "annotate the message that has the focus"],
    ["/run/good/review?id=nowhere", "Review", "back to the table"],
    ["/run/good/rollout/Desk/q-1?review=", "Reviewing", "the next one that you have not reviewed"],
    ["/compare?a=good&b=poor", "This comparison", "only those that were lost"],
    ["/compare?a=good", "Choosing", "the next choice; Enter takes it"],
    ["/compare?a=good%2FDesk%2Fq-1&b=poor%2FDesk%2Fq-1", "This comparison", "swap the two sides"],
  ] as const) {
    await goto(path);
    await page.locator("h1").first().waitFor();
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.locator(".keys dd", { hasText: key }).waitFor();
    const parts = await texts(".keys h3");
    expect([path, parts]).toEqual([path, expect.arrayContaining([title])]);
    expect(parts.at(-1)).toBe("Everywhere");
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });
  }
});

test("what belongs to a message is quiet until it is pointed at or has the focus, and seen where one touches", async () => {
  const folder = join(workFolder().path, "outputs");
  writeTwo(folder);
  const { page, goto } = await openView(folder);
  await goto("/run/good/rollout/Desk/q-1");
  const button = page.getByRole("button", { name: "Annotate message 0" });
  await button.waitFor();
  const opacity = () => page.evaluate("getComputedStyle(document.querySelector('#m0 .quiet')).opacity");
  await page.mouse.move(0, 0);
  expect(await opacity()).toBe("0");
  await page.locator("#m0").hover();
  expect(await opacity()).toBe("1");
  await page.mouse.move(0, 0);
  await button.focus();
  expect(await opacity()).toBe("1");
  const touch = await page.evaluate(
    `[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.cssText?.includes(".quiet") && rule.cssText.includes("opacity")).map((rule) => rule.conditionText)`,
  );
  expect(touch).toEqual(["(hover: hover)"]); // without a pointer nothing hides it
});

test("what is empty is said in one sentence, with what to do", async () => {
  const folder = join(workFolder().path, "outputs");
  writeRun(join(folder, "only"), { Desk: recordLine({ queryId: "q-1" }) });
  writeRun(join(folder, "begun"), { Desk: "" });
  const { page, goto } = await openView(folder);
  const says = async (path: string, ...words: string[]) => {
    await goto(path);
    for (const text of words) await page.locator("main").filter({ hasText: text }).waitFor();
  };
  await says("/run/only", "Not scored yet: npx rollout eval");
  await says("/run/begun/rollouts", "No rollout has been finished yet; each appears here as soon as it is.");
  await says("/run/only/rollouts?id=nowhere&sort=turns", "No rollout fits all of these filters.");
  await page.getByRole("link", { name: "Show all 1" }).click();
  await heading(page, "1 of 1 rollouts");
  expect(new URL(page.url()).search).toBe("?sort=turns");
  await says("/run/only/rollouts?offset=100", "There are no more rollouts on this page. Back to the first page");
  await says("/run/only/review?id=nowhere", "Nothing to review", "choose another one in the table");
  await says("/compare?a=only%2FDesk%2Fq-1", "No run here has another rollout of this query");
  await says("/compare?a=only&b=begun", "there is no difference to tell");
  await says("/seat", "npx rollout play DOMAIN --as agent --view");
});
