// References of reference plans, `{{tool.path}}`, checked before a run: a mistyped one would otherwise show only as an
// agent that says it does not have what it needs.
import {
  callsOf,
  cutText,
  didYouMean,
  fillPlaceholders,
  findUnnamed,
  listAllCalls,
  listReferences,
  type Query,
  RolloutError,
  redactText,
  UsageError,
} from "../core/index.ts";
import type { Domain } from "./domain.ts";
import { playPlan } from "./play-plan.ts";
import type { QueryFile } from "./query-file.ts";

/** More plans than that are not worth waiting for before a run; `rollout check` plays all. */
const MAX_PLAYED = 200;

export type ReferenceOptions = { queries: QueryFile; chosen: readonly number[]; play: boolean };

/** With `play`, each plan is played, so that a wrong path in a result is found too. */
export async function requireReferences(domain: Domain, { queries, chosen, play }: ReferenceOptions): Promise<void> {
  const referring = chosen.filter((index) => queries.hasReferences(index));
  for (const [number, index] of referring.entries()) {
    const isPlayed = play && number < MAX_PLAYED;
    if (!isPlayed && queries.isNamed(index)) continue;
    const problem = await referenceProblem(queries.load(index), isPlayed ? domain : undefined);
    if (problem) throw new UsageError(problem, queries.location(index));
  }
}

/** What is wrong with the first wrong reference of a query's plan; without a domain nothing is played. */
export async function referenceProblem(query: Query, domain: Domain | undefined): Promise<string | undefined> {
  const { plan = [] } = query.taskInfo;
  const unnamed = findUnnamed(plan);
  if (unnamed) {
    const { written, after } = unnamed;
    const names = new Set(
      listAllCalls(plan)
        .slice(0, after)
        .map(({ name }) => name),
    );
    const [name = ""] = written.slice(2, -2).trim().split(/[.#]/);
    return `the plan's ${written} names no call before it${didYouMean(name, names)}`;
  }
  const references = domain ? listReferences(plan) : [];
  const played = domain && references.length > 0 ? await tryPlaying(domain, query) : undefined;
  const lost = references.find(({ written, after }) => {
    return played && fillPlaceholders(written, played.slice(0, after)) === written;
  });
  if (!lost || !played) return undefined;
  const result = callsOf(lost.written, played.slice(0, lost.after)).at(-1);
  return `the plan's ${lost.written} is not in the result of ${result?.name}: ${cutText(redactText(result?.content ?? ""), 200)}`;
}

/** Tools that cannot be reached are the run's to report. */
async function tryPlaying(domain: Domain, query: Query) {
  try {
    return (await playPlan(domain, query)).calls;
  } catch (error) {
    if (error instanceof RolloutError) return undefined;
    throw error;
  }
}
