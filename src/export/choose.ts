// Which records are exported. Each filter says in words why it left a record out.
import { didYouMean, ORIGINAL_REASONS, UsageError } from "../core/index.ts";
import { STOP_REASONS } from "../dialogue/index.ts";
import type { ExportRecord } from "./record.ts";

export type Choice = {
  /** everything: without it, what did not end regularly, has a reply that was cut off, or failed its checks stays out */
  all?: boolean;
  /** came to a regular end */
  ended?: boolean;
  /** the task's checks pass */
  solved?: boolean;
  minScore?: number;
  stopReasons?: string[];
  datasets?: string[];
  /** `name` asks for a tag, `!name` for its absence */
  tags?: string[];
  maxTokens?: number;
  includeScripted?: boolean;
  /** rows need failed rollouts too: pairs of good and bad ones, prompts of hard queries */
  forComparison?: boolean;
};

export type Filter = (record: ExportRecord) => string | undefined;

export function createFilter(given: Choice, countTokens: ((record: ExportRecord) => number) | undefined): Filter {
  const stopReasons = given.stopReasons?.flatMap((reason) => ORIGINAL_REASONS[reason] ?? [reason]);
  const choice = withDefaults({ ...given, stopReasons });
  for (const reason of choice.stopReasons ?? []) {
    if (!Object.hasOwn(STOP_REASONS, reason))
      throw new UsageError(`There is no stop reason "${reason}"${didYouMean(reason, Object.keys(STOP_REASONS))}`);
  }
  const { minScore, maxTokens } = choice;
  const filters: (Filter | false | undefined)[] = [
    !choice.includeScripted && ((record) => (isScripted(record) ? SCRIPTED : undefined)),
    choice.datasets && (({ dataset }) => (choice.datasets?.includes(dataset) ? undefined : "of another dataset")),
    choice.ended && (({ success }) => (success === false ? "no regular end" : undefined)),
    choice.whole && ((record) => (hasCutReply(record) ? "a reply that was cut off or empty" : undefined)),
    choice.stopReasons &&
      (({ metadata }) =>
        choice.stopReasons?.includes(metadata.stop_reason ?? "") ? undefined : "another stop reason"),
    choice.tags && ((record) => (hasTags(record, choice.tags ?? []) ? undefined : "not tagged as asked")),
    (choice.solved || minScore !== undefined) && ((record) => (isScored(record) ? undefined : UNSCORED)),
    choice.solved && ((record) => (isSolved(record) ? undefined : "not solved")),
    choice.notFailed && ((record) => (isScored(record) && !isSolved(record) ? FAILED : undefined)),
    minScore !== undefined && (({ score = 0 }) => (score < minScore ? `score below ${minScore}` : undefined)),
    maxTokens !== undefined &&
      countTokens &&
      ((record) => (countTokens(record) > maxTokens ? `more than ${maxTokens} tokens` : undefined)),
  ];
  const active = filters.filter((filter) => typeof filter === "function");
  return (record) => {
    for (const filter of active) {
      const reason = filter(record);
      if (reason) return reason;
    }
    return undefined;
  };
}

type FullChoice = Choice & { whole: boolean; notFailed: boolean };

/** What a filter that was asked for decides is not decided by the default too. */
function withDefaults(choice: Choice): FullChoice {
  const isDefault = !choice.all && !choice.forComparison;
  return {
    ...choice,
    includeScripted: choice.includeScripted || choice.all,
    ended: choice.ended ?? (isDefault && choice.stopReasons === undefined),
    whole: isDefault && choice.stopReasons === undefined,
    notFailed: isDefault && choice.ended === undefined && choice.minScore === undefined,
  };
}

const FAILED = "failed its checks (--all takes it in)";
const SCRIPTED = "made by scripted models (--include-scripted takes them in)";
export const UNSCORED = "unscored";

function hasCutReply({ messages, metadata }: ExportRecord): boolean {
  const reason = metadata.stop_reason as string | undefined;
  if (reason === "truncated_reply" || reason === "empty_reply") return true;
  return messages.some(
    (message) => message.role === "assistant" && message.content.trim() === "" && !message.tool_calls?.length,
  );
}

/** A transform may leave anything in `score`. */
export function isScored({ score }: ExportRecord): boolean {
  return Number.isFinite(score);
}

/** A line that has only a score is solved at 1. */
export function isSolved({ score = 0, solved = score >= 1 }: ExportRecord): boolean {
  return solved;
}

/** Records from before the mark existed are recognised by their models' names. */
export function isScripted({ metadata }: ExportRecord): boolean {
  const models = Object.values(metadata.models ?? {});
  return metadata.scripted === true || models.some((model) => String(model).startsWith("scripted/"));
}

/** Its own tags, its mode, the kinds of its faults (`recovered` is one), and `drift`. */
function tagsOf({ tags, metadata }: ExportRecord): Set<string> {
  return new Set([
    ...tags,
    ...(Array.isArray(metadata.tags) ? metadata.tags.map(String) : []),
    ...(metadata.mode ? [metadata.mode] : []),
    ...(Array.isArray(metadata.faults) ? metadata.faults.map(({ type }) => type) : []),
    ...(metadata.drift ? ["drift"] : []),
  ]);
}

function hasTags(record: ExportRecord, asked: string[]): boolean {
  const tags = tagsOf(record);
  return asked.every((tag) => (tag.startsWith("!") ? !tags.has(tag.slice(1)) : tags.has(tag)));
}
