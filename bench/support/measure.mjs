// What the suites measure with.
import { writeFileSync } from "node:fs";

/** Wall and CPU time of some work, in milliseconds. */
export async function timed(work) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const value = await work();
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { value, wallMs, cpuMs: (user + system) / 1000 };
}

/** The best of several tries: the one that the rest of the machine disturbed least. */
export async function best(tries, work) {
  let fastest;
  for (let n = 0; n < tries; n++) {
    const result = await timed(work);
    if (!fastest || result.cpuMs < fastest.cpuMs) fastest = result;
  }
  return fastest;
}

export async function heapUsed() {
  for (let n = 0; n < 3; n++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return process.memoryUsage().heapUsed;
}

export function report(tables) {
  writeFileSync(process.argv[2], `${JSON.stringify(tables, null, 2)}\n`);
}

export const round = (number, digits = 2) => Number(number.toFixed(digits));
