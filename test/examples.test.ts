import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const programs = readdirSync("examples").filter((file) => file.endsWith(".ts"));

test.each(programs)("examples/%s runs", (file) => {
  const text = execFileSync(process.execPath, ["--import", "tsx", join("examples", file)], { encoding: "utf8" });
  expect(text).toMatch(/\d+ finished/);
});
