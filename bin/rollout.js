#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (!existsSync(fileURLToPath(main))) {
  process.stderr.write("rollout is not built yet: run `npm install` (or `npm run build`) in its folder first.\n");
  process.exit(2);
}
const { main: run } = await import(main.href);
await run(process);
