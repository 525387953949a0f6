import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { commandFor } from "./version.ts";

test("printed commands name this package where the short name would fetch a stranger's", () => {
  expect(commandFor("file:///home/me/.npm/_npx/ab12/node_modules/agent-rollout/dist/core/version.js")).toBe(
    "npx agent-rollout",
  );
  expect(commandFor("file:///home/me/clone/dist/core/version.js")).toBe("npx rollout");
});

test("no source file writes the command out", () => {
  const source = fileURLToPath(new URL("..", import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  const writers = files.filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && readFileSync(join(source, file), "utf8").includes("npx rollout "),
  );
  expect(writers).toEqual([]);
});
