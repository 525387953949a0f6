// How many rollouts at once the limit of open files allows: fewer at once is better than calls that fail.
import type { ResolvedRun } from "../config/index.ts";
import { descriptorLimit } from "../files/index.ts";

/** The program itself, the files of a run, lookups of names, and a few Python processes. */
const RESERVED = 48;
const PER_CHILD = 4;
const PER_CONNECTION = 2;
const PER_PYTHON = 5;
/** agent, user and judge: a rollout keeps at most one connection for each */
const MAX_ENDPOINTS = 3;

type Needs = { run: ResolvedRun; endpoints: number; note: (message: string) => void; limit?: number | undefined };

export function capWorkers({ run, endpoints, note, limit = descriptorLimit() }: Needs): number {
  const { max_workers: asked } = run.config;
  if (limit === undefined) return asked;
  const reserved = RESERVED + 2 * run.datasets.length;
  const perRollout = Math.min(endpoints, MAX_ENDPOINTS) + Math.max(0, ...run.datasets.map(toolDescriptors));
  const needed = reserved + asked * perRollout;
  if (perRollout === 0 || needed <= limit) return asked;
  // with fewer than that nothing could run: waiting for descriptors is what is left
  const atOnce = Math.min(asked, Math.max(1, Math.floor((limit - reserved) / perRollout)));
  if (atOnce < asked)
    note(
      `max_workers ${asked} needs about ${needed} file descriptors, the limit is ${limit}: ${atOnce} at once. Raise it with ulimit -n ${2 ** Math.ceil(Math.log2(needed))}; if the shell may not, where its hard limit is set (limits.conf, systemd, docker)`,
    );
  return atOnce;
}

/** Of the tool servers that a rollout has for itself. */
function toolDescriptors({ mcpServers = {}, ownTools }: ResolvedRun["datasets"][number]): number {
  const python = ownTools?.files.some((file) => file.endsWith(".py")) ? PER_PYTHON : 0;
  const own = Object.values(mcpServers).filter(({ isolation }) => isolation !== "shared");
  return own.reduce((sum, { url }) => sum + (url === undefined ? PER_CHILD : PER_CONNECTION), python);
}
