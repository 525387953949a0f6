// Which records are exported. Each filter says in words why it left a record out.
import { didYouMean, ORIGINAL_REASONS, UsageError } from "../core/index.ts";
import { STOP_REASONS } from "../dialogue/index.ts";
import { ANNOTATION_WORDS } from "../runs/index.ts";
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
  /** what people say about the dialogue: one of these (`any`: any verdict); it replaces the default for those they judged */
  annotated?: string[];
  maxTokens?: number;
  includeScripted?: boolean;
  /** rows need failed rollouts too: pairs of good and bad ones, prompts of hard queries */
  forComparison?: boolean;
};

export type Filter = (record: ExportRecord) => string | undefined;

/** What `annotated` may ask for. */
export const ANNOTATED = [...ANNOTATION_WORDS, "any"];

type CountTokens = ((record: ExportRecord) => number) | undefined;

export function createFilter(given: Choice, countTokens: CountTokens): Filter {
  const stopReasons = given.stopReasons?.flatMap((reason) => ORIGINAL_REASONS[reason] ?? [reason]);
  refuseUnknown("stop reason", stopReasons, Object.keys(STOP_REASONS));
  refuseUnknown("annotation", given.annotated, ANNOTATED);
  const choice = { ...given, stopReasons };
  const usual = filterBy(withDefaults(choice), countTokens);
  if (!choice.annotated) return usual;
  const judged = filterBy(withDefaults(choice, false), countTokens);
  return (record) => (isJudged(record) ? judged : usual)(record);
}

function refuseUnknown(kind: string, asked: readonly string[] = [], known: readonly string[]): void {
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no ${kind} "${unknown}"${didYouMean(unknown, known)}`);
}

function filterBy(choice: FullChoice, countTokens: CountTokens): Filter {
  const { minScore, maxTokens } = choice;
  const filters: (Filter | false | undefined)[] = [
    !choice.includeScripted && ((record) => (isScripted(record) ? SCRIPTED : undefined)),
    choice.datasets && (({ dataset }) => (choice.datasets?.includes(dataset) ? undefined : "of another dataset")),
    choice.annotated && ((record) => refuseAnnotation(record, choice.annotated ?? [])),
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
function withDefaults(choice: Choice, hasDefaults = true): FullChoice {
  const isDefault = hasDefaults && !choice.all && !choice.forComparison;
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

function isJudged({ annotation }: ExportRecord): boolean {
  return annotation !== undefined && annotation.word !== "none";
}

function refuseAnnotation(record: ExportRecord, asked: readonly string[]): string | undefined {
  const { word } = record.annotation ?? { word: "none" };
  if (asked.includes(word) || (asked.includes("any") && isJudged(record))) return undefined;
  return word === "none" ? "not annotated" : word === "mixed" ? DISAGREE : `annotated: ${word}`;
}

/** Of records that went out nevertheless, a note. */
export const DISAGREE = "annotators disagree";

/** Its own tags, those of annotators, its mode, the kinds of its faults (`recovered` is one), and `drift`. */
function tagsOf({ tags, annotation, metadata }: ExportRecord): Set<string> {
  return new Set([
    ...tags,
    ...(annotation?.tags ?? []),
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
