#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (!existsSync(fileURLToPath(main))) {
  process.stderr.write("rollout is not built yet: run `npm install` (or `npm run build`) in its folder first.\n");
  process.exit(2);
}

// Node opens all files of a program at the same time: more than a low limit of open files allows. There, a few at a time.
const FEW_AT_A_TIME = `
let free = 8;
const waiting = [];
export async function load(url, context, next) {
  if (free > 0) free--;
  else await new Promise((resolve) => waiting.push(resolve));
  try {
    return await next(url, context);
  } finally {
    const first = waiting.shift();
    if (first) first();
    else free++;
  }
}`;
if (openFilesLimit() < 512) register(`data:text/javascript,${encodeURIComponent(FEW_AT_A_TIME)}`);

const { main: run } = await import(main.href);
await run(process);

function openFilesLimit() {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
    return limit > 0 ? limit : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY; // no Linux: Node has raised it as far as it may
  }
}
