// What processes use, as Linux tells it; elsewhere it is not a number.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

const isLinux = process.platform === "linux";
const TICK_MS = 10;
const PAGE_MB = 4096 / 2 ** 20;

/** CPU time so far. */
export function cpuMsOf(pid) {
  return (isLinux && statOf(pid)?.cpuMs) || Number.NaN;
}

/** CPU time of the children that this process has seen end. */
export function childrenCpuMs() {
  return isLinux ? statOf("self").childrenCpuMs : Number.NaN;
}

/** CPU time so far of a process and of those it started, the ended ones included. */
export function treeCpuMs(pid) {
  if (!isLinux) return Number.NaN;
  const { cpuMs, childrenCpuMs } = statOf(pid) ?? { cpuMs: 0, childrenCpuMs: 0 };
  return cpuMs + childrenCpuMs + childrenOf(pid).reduce((sum, child) => sum + treeCpuMs(Number(child)), 0);
}

/** CPU time of this process and of the children that it has seen end; elsewhere than on Linux its own alone. */
export function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + (childrenCpuMs() || 0);
}

/** Resolves once a child is gone, since only then its CPU time counts as this process's own. */
export async function ended(child) {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Ends a child, and waits until it is gone. */
export async function end(child) {
  child.kill();
  await ended(child);
}

/** Looks several times a second, until the function that it returns is called, which tells the most that was seen. */
export function watchSizes(listPids) {
  const most = { processes: 0, mb: 0 };
  const look = () => {
    const sizes = listPids().flatMap((pid) => statOf(pid)?.mb ?? []);
    most.processes = Math.max(most.processes, sizes.length);
    most.mb = Math.max(
      most.mb,
      sizes.reduce((sum, mb) => sum + mb, 0),
    );
  };
  const timer = isLinux ? setInterval(look, 200) : undefined;
  return () => {
    clearInterval(timer);
    return isLinux ? most : { processes: Number.NaN, mb: Number.NaN };
  };
}

/** Those that it started and that are still there. */
export function childrenOf(pid) {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && statOf(name)?.parent === pid);
}

/** It and everything below it that is still there. */
export function treeOf(pid) {
  if (!isLinux) return [];
  const parents = readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) && statOf(name);
    return stat ? [[Number(name), stat.parent]] : [];
  });
  const tree = [pid];
  for (const member of tree) tree.push(...parents.flatMap(([child, parent]) => (parent === member ? [child] : [])));
  return tree;
}

/** CPU time of everything below it so far, of what has ended too. */
export function belowCpuMs(pid) {
  if (!isLinux) return Number.NaN;
  const stats = treeOf(pid).map((member) => ({ member, ...statOf(member) }));
  return stats.reduce(
    (sum, { member, cpuMs = 0, childrenCpuMs = 0 }) => sum + childrenCpuMs + (member === pid ? 0 : cpuMs),
    0,
  );
}

/** Undefined once it is gone. */
function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ").map(Number);
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15);
    return {
      parent: fields[1],
      cpuMs: (user + system) * TICK_MS,
      childrenCpuMs: (childrenUser + childrenSystem) * TICK_MS,
      mb: fields[21] * PAGE_MB,
    };
  } catch {
    return undefined;
  }
}
