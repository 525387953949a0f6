// The bench of ten thousand at once, with two hundred: all of them are in flight together, and every figure is there.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

test("bench many holds all rollouts in flight at once, and tells what that took", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-bench-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const result = join(folder, "many.json");
  const env = { ...process.env, BENCH_QUICK: "1" };
  await promisify(execFile)(process.execPath, ["bench/suites/many.mjs", result], { env });
  const [taken, lag] = JSON.parse(readFileSync(result, "utf8")) as { rows: { [name: string]: number }[] }[];
  expect(taken?.rows).toMatchObject([{ workers: 200, "most in flight": 200 }]);
  const figures = [...Object.values(taken?.rows[0] ?? {}), ...Object.values(lag?.rows[0] ?? {})];
  expect(figures).toHaveLength(11 + 8);
  for (const figure of figures) expect(figure).toBeTypeOf("number"); // one that is not a number is null in JSON
});
