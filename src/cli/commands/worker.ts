// `rollout worker`: makes rollouts of the runs on a queue.
import { homedir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../core/index.ts";
import { hideVariables } from "../environment.ts";
import { whole } from "../flags.ts";
import { leaseOf } from "../fleet.ts";
import type { Configure } from "../host.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { createTerminal, printableName } from "../printing/terminal.ts";

type WorkerFlags = { maxWorkers: number; run?: string[]; cache?: string; once?: boolean };

const EXAMPLES = `
Examples:
  rollout worker postgres://user:password@host/database --max-workers 64
  rollout worker --run my-run --once            address from ROLLOUT_QUEUE; leaves when the run needs nobody any more

Keys are read from this environment; everything else that a run needs comes through the database. Ctrl-C and SIGTERM give
back what is in flight: others go on with it.`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("[url]", "the queue's database, postgres://… (default: ROLLOUT_QUEUE)")
    .option("--max-workers <n>", "rollouts at once, of all runs together", whole(1), 32)
    .option("--run <names...>", "only runs of these names (default: all)")
    .option("--cache <folder>", "where files of runs are kept (default: rollout in the user's cache folder)")
    .option("--once", "leave when nothing is left to do")
    .addHelpText("after", EXAMPLES)
    .action(async (address: string | undefined, flags: WorkerFlags) => {
      const { env } = host;
      const url = address ?? env.ROLLOUT_QUEUE;
      if (!url) throw new UsageError("Say which queue: rollout worker postgres://…, or ROLLOUT_QUEUE");
      const terminal = createTerminal(host);
      const say = (text: string) => terminal.err(printableName(text));
      const { park, abort, release } = listenForInterrupt(host, () =>
        say("Stopping: no new work; replies in flight are waited for, then everything is given back."),
      );
      const { maxWorkers, run: runs, once = false } = flags;
      const cache = flags.cache ?? join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "rollout");
      try {
        const { serveQueue } = await import("../../queue/index.ts");
        const hide = (variables: string[]) => hideVariables(variables.map((name) => `\${${name}}`));
        const options = { url, env, maxWorkers, runs, cache, once, ...leaseOf(env), park, abort, say, hide };
        const served = await serveQueue(options);
        say(`${served.finished} ${served.finished === 1 ? "rollout" : "rollouts"} made`);
        done(park.aborted ? 130 : served.refused.length > 0 ? 2 : 0);
      } catch (error) {
        if (!abort.aborted) throw error;
        done(130);
      } finally {
        release();
      }
    });
};
