import { expect, test } from "vitest";
import { calls, line, result, says, user, writeRun } from "../../../test/support/export-records.ts";
import { collectStats } from "./collect-stats.ts";
import { statsHtml } from "./stats-html.ts";

const EVIL = `<script>alert("1")</script>' onload='x`;

test("hostile names and texts stay text, and the page asks for nothing", async () => {
  const messages = [user(EVIL), calls(["a", EVIL, "{}"]), result("a", '{"error":"x"}'), says(EVIL)];
  const evil = line(EVIL, {
    messages,
    dataset: EVIL,
    score: 1,
    metadata: { stop_reason: EVIL, models: { agent: EVIL }, scripted: true },
  });
  const unlisted = { ...evil, id: "q2", metadata: { ...evil.metadata, tools_hash: "lost" } };
  const lines = [evil, { ...evil, rollout: 1 }, unlisted, { id: EVIL, messages: [{ role: EVIL }] }];
  const stats = await collectStats({ inputs: [writeRun(lines)] });
  const page = statsHtml(stats, [EVIL]);
  expect(page).not.toContain("<script");
  expect(page).not.toContain("onload='");
  expect(page).not.toMatch(/(?:src|href)=|url\(|@import/);
  expect(page.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(5);
});

test("every picture is there, each with its note", async () => {
  const page = statsHtml(
    await collectStats({ inputs: [writeRun([line("q1", { score: 1 }), line("q2", { score: 0 })])] }),
    ["run"],
  );
  const titles = [...page.matchAll(/<figcaption>(.*?)<\/figcaption><svg/g)].map(([, title]) => title);
  expect(titles).toEqual([
    "Tokens by kind",
    "Solved, by dataset",
    "Turns",
    "Steps",
    "Tool calls",
    "Chains of calls",
    "Tools used",
    "Stop reasons",
    "Languages",
  ]);
  expect(page).toContain("50.0 % of 2");
  expect(page).toContain("4, 50.0 %");
});

test("an empty run makes a page without pictures", async () => {
  const page = statsHtml(await collectStats({ inputs: [writeRun([])] }), ["run"]);
  expect(page).not.toContain("<svg");
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
});
