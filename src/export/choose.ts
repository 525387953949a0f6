// Which records are exported. Each filter says in words why it left a record out.
import { didYouMean, UsageError } from "../core/index.ts";
import { STOP_REASONS } from "../dialogue/index.ts";
import type { ExportRecord } from "./record.ts";

export type Choice = {
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
};

export type Filter = (record: ExportRecord) => string | undefined;

export function createFilter(choice: Choice, countTokens: ((record: ExportRecord) => number) | undefined): Filter {
  for (const reason of choice.stopReasons ?? []) {
    if (!Object.hasOwn(STOP_REASONS, reason))
      throw new UsageError(`There is no stop reason "${reason}"${didYouMean(reason, Object.keys(STOP_REASONS))}`);
  }
  const { minScore, maxTokens } = choice;
  const filters: (Filter | false | undefined)[] = [
    !choice.includeScripted && ((record) => (isScripted(record) ? SCRIPTED : undefined)),
    choice.datasets && (({ dataset }) => (choice.datasets?.includes(dataset) ? undefined : "of another dataset")),
    choice.ended && (({ success }) => (success ? undefined : "no regular end")),
    choice.stopReasons &&
      (({ metadata }) =>
        choice.stopReasons?.includes(metadata.stop_reason ?? "") ? undefined : "another stop reason"),
    choice.tags && ((record) => (hasTags(record, choice.tags ?? []) ? undefined : "not tagged as asked")),
    (choice.solved || minScore !== undefined) && ((record) => (isScored(record) ? undefined : UNSCORED)),
    choice.solved && ((record) => (isSolved(record) ? undefined : "not solved")),
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

const SCRIPTED = "made by scripted models (--include-scripted takes them in)";
export const UNSCORED = "unscored";

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
