// Which records are exported. Each filter says in words why it left a record out.
import { didYouMean, UsageError } from "../core/index.ts";
import { STOP_REASONS } from "../dialogue/index.ts";
import type { ExportRecord } from "./record.ts";

export type Choice = {
  successOnly?: boolean;
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
    choice.successOnly && (({ success }) => (success ? undefined : "no success")),
    choice.stopReasons &&
      (({ metadata }) =>
        choice.stopReasons?.includes(metadata.stop_reason ?? "") ? undefined : "ended for another reason"),
    choice.tags && ((record) => (hasTags(record, choice.tags ?? []) ? undefined : "not tagged as asked")),
    minScore !== undefined &&
      (({ score }) => (score === undefined ? NOT_SCORED : score < minScore ? `score below ${minScore}` : undefined)),
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
export const NOT_SCORED = "not scored (rollout eval scores a run)";

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
