// One dialogue with all its evidence: the record, the prompts that were sent, the entries with their times, the checks.
import { join } from "node:path";
import { type Json, redactDeep } from "../../core/index.ts";
import { readRollouts, scanPrompts } from "../../runs/index.ts";
import { readScore } from "../../scoring/index.ts";
import type { DialogueView } from "../api.ts";
import type { NamedRun } from "../runs.ts";

/** Undefined if the run has no such rollout. */
export function toDialogueView({ index }: NamedRun, dataset: string, id: string): DialogueView | undefined {
  const notes: string[] = [];
  const [found] = readRollouts(index.path, id, { dataset, onNotice: (note) => notes.push(note) });
  if (!found) return undefined;
  const { trajectory, entries, startedAt, failures } = found;
  const row = index.row(dataset, id);
  const { system_hash, tools_hash, user_tools_hash } = trajectory?.metadata ?? {};
  const prompts = new Map<string, string | Json[]>();
  scanPrompts(join(index.path, "prompts.jsonl"), ({ hash, content }) => prompts.set(hash, content));
  const listOf = (hash: string | undefined) => prompts.get(hash ?? "") as Json[] | undefined;
  const key = trajectory && { dataset, queryId: trajectory.query_id, rollout: trajectory.rollout };
  const score = key && readScore(index.path, key, trajectory.metadata);
  return redactDeep({
    dataset,
    id,
    trajectory,
    system: prompts.get(system_hash ?? "") as string | undefined,
    tools: listOf(tools_hash),
    userTools: listOf(user_tools_hash),
    entries,
    startedAt,
    failures,
    checks: score?.results ?? [],
    verdict: score?.verdict,
    score: score?.score,
    siblings: (row ? index.siblings(row) : []).map(({ id: other, verdict, stopReason }) => ({
      id: other,
      verdict,
      stopReason,
    })),
    notes,
  });
}
