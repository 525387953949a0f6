// What a run came to, and what to do next: it follows from what happened.

import { join } from "node:path";
import type { FullConfig } from "../../config/index.ts";
import { PROGRAM_COMMAND } from "../../core/index.ts";
import { type Budget, largerBudget, type RunResult, spentText } from "../../runner/index.ts";
import { FAILURES_FILE, type FailureRecord, groupFailures, isLastAttempt } from "../../runs/index.ts";
import { failureLines } from "./failures-text.ts";
import { quote, shortPath } from "./shell-text.ts";
import { count, duration, type Terminal, table } from "./terminal.ts";

export function headline({ datasets, finished, folder, later }: RunResult, begun: number, elapsedMs: number): string {
  const kept = datasets.reduce((sum, dataset) => sum + dataset.kept, 0);
  const what = later > 0 ? "Everything asked for" : "Everything";
  if (begun === 0) return `${what} is there already: ${count(kept)} rollouts in ${shortPath(folder)}`;
  return `${finished} rollouts in ${duration(elapsedMs)}${kept > 0 ? `, ${kept} kept from before` : ""}`;
}

/** All failures that remain, by reason. */
export function remainingLines(terminal: Terminal, folder: string, failures: readonly FailureRecord[]): string[] {
  if (failures.length === 0) return [];
  const file = shortPath(join(folder, FAILURES_FILE));
  const head = terminal.paint("red", `${rollouts(failures.length)} failed for infrastructure reasons (${file}):`);
  return [head, ...failureLines(terminal, groupFailures(failures))];
}

/** Why rollouts are left undone, if they are. */
export function stopLines({ left, stoppedBy, used }: RunResult, config: Budget): string[] {
  if (left === 0) return [];
  if (stoppedBy !== "budget") return [`Stopped with ${rollouts(left)} left.`];
  return [`The budget stopped the run, with ${rollouts(left)} left: ${spentText(config, used)}.`];
}

export type NextFacts = { config: FullConfig; failures: readonly FailureRecord[]; scripted: boolean; records: number };

export function nextLines(result: RunResult, { config, failures, scripted, records }: NextFacts): string[] {
  const { left, later, stoppedBy, used } = result;
  const folder = quote(shortPath(result.folder));
  const isOver = failures.every(isLastAttempt) || config.retry_failed === false;
  const [first] = failures;
  const next: string[][] = [];
  if (left > 0) {
    const more = stoppedBy === "budget" ? ` ${largerBudget(config, used)}` : "";
    const what = stoppedBy === "budget" ? "go on with a larger budget" : "go on";
    next.push([`${PROGRAM_COMMAND} resume ${folder}${more}`, what]);
  } else if (later > 0)
    next.push([`${PROGRAM_COMMAND} resume ${folder}`, `the ${rollouts(later)} not asked for this time`]);
  if (first) {
    const again = isOver ? "try the failed ones again, however often they failed" : "try the failed ones again";
    if (isOver || next.length === 0)
      next.push([`${PROGRAM_COMMAND} resume ${folder}${isOver ? " --retry-failed" : ""}`, again]);
    next.push([`${PROGRAM_COMMAND} show ${folder} ${quote(first.id)}`, "one that failed, as far as it came"]);
  }
  if (records > 0) {
    const included = scripted ? " --include-scripted" : "";
    next.push([`${PROGRAM_COMMAND} view ${folder}`, "read them in the browser"]);
    if (config.eval) next.push([`${PROGRAM_COMMAND} report ${folder}`, "the same with a page of pictures"]);
    else next.push([`${PROGRAM_COMMAND} eval ${folder}`, "which of them are solved"]);
    next.push([`${PROGRAM_COMMAND} export ${folder} --format openai --out data${included}`, "what a trainer loads"]);
  }
  if (config.split && left === 0)
    next.push([
      `${PROGRAM_COMMAND} merge ${folder} … --output-dir DIR`,
      `the run, once its other shares are here (this is ${config.split})`,
    ]);
  if (left + later + failures.length === 0) {
    next.push([`${PROGRAM_COMMAND} single --list --verbose`, "what is bundled"]);
    next.push([`${PROGRAM_COMMAND} --help`, "everything else"]);
  }
  return ["Next:", ...table(next).map((line) => `  ${line}`)];
}

function rollouts(number: number): string {
  return `${number} ${number === 1 ? "rollout" : "rollouts"}`;
}
