// Whether the machine is quiet enough to measure on: what processes other than this one and its children use of the CPU, and
// how many wait for it.
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { ownCpuMs } from "./processes.mjs";

const CORES = cpus().length;
/** Of one core, by others; and of the cores, as load. A desktop at rest is below both. */
const MOST = { others: 0.15, load: 0.5 * CORES };
const TICK_MS = 10;

/** Begins to watch; the function that it returns tells what others have used since, in cores, and the load. */
export function watchOthers() {
  const [start, busy, own] = [performance.now(), busyMs(), ownCpuMs()];
  return () => {
    const elapsed = performance.now() - start;
    const others = (busyMs() - busy - (ownCpuMs() - own)) / elapsed;
    return { cores: CORES, others: toTwo(Math.max(0, others)), load: toTwo(loadavg()[0]) };
  };
}

/** The load tells of the last minute, so it counts only where that minute was not our own. */
export async function lookAround({ seconds = 3, ownMinute = false } = {}) {
  const tell = watchOthers();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const seen = tell();
  return { ...seen, busy: wasBusy(seen) || (!ownMinute && seen.load > MOST.load) };
}

/** While something was measured the load is its own as well, so only the others count. */
export function wasBusy({ others }) {
  return others > MOST.others;
}

export function describe({ cores, others, load }) {
  return `other processes use ${others} of ${cores} cores, and the load is ${load}`;
}

function busyMs() {
  try {
    const fields = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].trim().split(/\s+/).slice(1).map(Number);
    const [user, nice, system, , , irq, softirq, steal] = fields;
    return (user + nice + system + irq + softirq + steal) * TICK_MS;
  } catch {
    return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
  }
}

const toTwo = (number) => Number(number.toFixed(2));
