// A record whose context was summarised on the way, as the stretches that the agent really saw: each but the first begins
// with what was asked and the summary of all before it.
import { type ContextSummary, isObject, joinSummary, type TrajectoryMessage } from "../core/index.ts";
import type { ExportRecord } from "./record.ts";

export type Segment = {
  record: ExportRecord;
  /** what it adds to its record's id */
  mark: string;
};

/** The summaries that fit the record's messages; a transform may have changed either. */
export function summariesOf({ rest, messages }: Pick<ExportRecord, "rest" | "messages">): ContextSummary[] {
  const { summaries } = rest;
  return (Array.isArray(summaries) ? summaries : []).filter(
    (summary): summary is ContextSummary =>
      isObject(summary) &&
      typeof summary.content === "string" &&
      Number.isSafeInteger(summary.after) &&
      Number(summary.after) > 0 &&
      Number(summary.after) < messages.length,
  );
}

export function splitAtSummaries(record: ExportRecord): Segment[] {
  const summaries = summariesOf(record);
  if (summaries.length === 0) return [{ record, mark: "" }];
  const ends = [...summaries.map(({ after }) => after), record.messages.length];
  return ends.map((end, index) => {
    const start = index === 0 ? 0 : (ends[index - 1] as number);
    const opening: TrajectoryMessage[] =
      index === 0 ? [] : [toOpening(record, start, (summaries[index - 1] as ContextSummary).content)];
    const metadata = index === 0 ? record.metadata : { ...record.metadata, opening_messages: undefined };
    const messages = [...opening, ...record.messages.slice(start, end)];
    return { record: { ...record, messages, metadata }, mark: `/${index + 1}` };
  });
}

function toOpening({ messages }: ExportRecord, start: number, summary: string): TrajectoryMessage {
  const asked = messages.slice(0, start).findLast(({ role }) => role === "user");
  return { role: "user", content: joinSummary(asked?.content ?? "", summary) };
}
