import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawMap } from "../scripts/make-map.ts";

const PAGES = ["docs/architecture.md", "docs/zh/architecture.md"];

test("docs/architecture.svg is drawn from the imports as they are (npx tsx scripts/make-map.ts draws it)", () => {
  expect(readFileSync("docs/architecture.svg", "utf8")).toBe(drawMap());
});

test.each(PAGES)("%s walks one rollout in at most a dozen steps, through files and names that exist", (page) => {
  const steps = readFileSync(page, "utf8").match(/^\d+\. .*$/gm) ?? [];
  expect(steps.length).toBeGreaterThan(8);
  expect(steps.length).toBeLessThanOrEqual(12);
  for (const step of steps) {
    const named = [...step.matchAll(/`([\w/-]+\.ts)` `(\w+)`/g)];
    expect(named.length, step).toBeGreaterThan(0);
    for (const [, file, name] of named)
      expect(readFileSync(`src/${file}`, "utf8"), step).toMatch(new RegExp(`(function\\*?|class|const) ${name}\\b`));
  }
});

test.each(PAGES)("every folder and file that %s names is there", (page) => {
  const text = readFileSync(page, "utf8");
  for (const [, room] of text.matchAll(/^\| `(\w+)\/` \|/gm)) expect(existsSync(`src/${room}`), room).toBe(true);
  const paths = [...text.matchAll(/`((?:src|test|scripts)\/[\w/.-]+)`/g)].map(([, path]) => path as string);
  for (const path of paths) if (!path.includes("NAME")) expect(existsSync(path), path).toBe(true);
});
