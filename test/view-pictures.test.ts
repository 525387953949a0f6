// The pictures of a run: behind every bar and every point are as many rollouts as it says.
import { join } from "node:path";
import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { openView } from "./support/view-page.ts";
import { recordLine, scoreLine, writeRun } from "./support/view-run.ts";

const LINKS = `[...document.querySelectorAll(".bars a, .plot a, .facts a")].map((link) => ({
  picture: link.closest("section")?.ariaLabel ?? "facts",
  says: (/^[\\d,]+/.exec(link.title) ?? /[\\d,]+$/.exec((link.querySelector(".number") ?? link).textContent))?.[0] ?? "",
  href: link.getAttribute("href"),
}))`;

/** Durations that binary fractions cannot hold, and everything else that has a picture. */
function writePictured(folder: string): void {
  const queries = Array.from({ length: 40 }, (_, at) => ({ queryId: `q-${at >> 1}`, rollout: at % 2 }));
  const metadata = (at: number) => ({
    ...{ total_turns: 1 + (at % 5), tool_call_count: at % 4, stop_reason: at % 3 === 0 ? "user_stop" : "max_turns" },
    ...{ usage: { agent: { input_tokens: at * 1000, output_tokens: at } }, blame: at % 3 === 0 ? undefined : "agent" },
    timings: {
      started_at: "2026-03-01T00:00:00.000Z",
      ended_at: new Date(Date.UTC(2026, 2, 1, 0, 0, at)).toISOString(),
      duration_ms: 50 * (at % 12),
    },
  });
  const lines = queries.map((query, at) => recordLine({ ...query, success: at % 3 === 0, metadata: metadata(at) }));
  const scores = queries.flatMap((query, at) => [
    scoreLine(query, "actions", at % 3 === 0),
    scoreLine(query, "user", at % 7 === 0 ? null : true),
  ]);
  const said = queries.slice(0, 9).map(({ queryId, rollout }, at) => ({
    ...{ dataset: "Desk", id: rollout === 0 ? queryId : `${queryId}#${rollout}`, query_id: queryId, rollout },
    ...{ by: "ann", at: "2026-03-02T00:00:00.000Z", verdict: at % 2 === 0 ? "accept" : "reject", tags: ["odd"] },
  }));
  const annotations = said.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeRun(folder, { Desk: lines.join("") }, { "scores.jsonl": scores.join(""), "annotations.jsonl": annotations });
}

test("behind every bar and every point are as many rollouts as it says", { timeout: 120_000 }, async () => {
  const folder = join(workFolder().path, "outputs");
  writePictured(join(folder, "made"));
  const { page, goto } = await openView(folder);
  await page.setViewportSize({ width: 1280, height: 900 });
  await goto("/run/made");
  await page.getByRole("heading", { name: "pass@k and pass^k" }).waitFor();
  await page.getByRole("heading", { name: "Annotations" }).waitFor();
  const links = (await page.evaluate(LINKS)) as { picture: string; says: string; href: string }[];
  const pictures = new Set(links.map(({ picture }) => picture));
  for (const picture of ["Finished over time", "Verdicts", "Scores by check", "Annotations", "Seconds", "Turns"])
    expect(pictures).toContain(picture);
  const wrong: unknown[] = [];
  for (const { picture, says, href } of links.filter(({ picture }) => !picture.startsWith("pass@k"))) {
    const { chosen } = (await page.evaluate(`fetch("/api${href}").then((answer) => answer.json())`)) as {
      chosen: number;
    };
    if (chosen !== Number(says.replaceAll(",", ""))) wrong.push({ picture, says, chosen, href });
  }
  expect(wrong).toEqual([]);

  // with the mouse, and back
  await page.getByRole("link", { name: "accept 5", exact: true }).click();
  await page.getByRole("heading", { name: "5 of 40 rollouts" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "9", exact: true }).click(); // annotated, among the facts
  await page.getByRole("heading", { name: "9 of 40 rollouts" }).waitFor();
  await page.goBack();
  await page.getByText("Every point is taken from all scored rollouts and leads to them.").waitFor();
  await page.locator(".plot a", { hasText: "pass^2" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "40 of 40 rollouts" }).waitFor();
});
