// What people said about a rollout, as `rollout show` prints it: the verdict, who, when, about which message, and the note.
import type { TrajectoryMessage } from "../../core/index.ts";
import type { AnnotationRecord, Judgement } from "../../runs/index.ts";
import { wrap } from "./dialogue-text.ts";
import { cut, printable, printableName, type Style, type Terminal } from "./terminal.ts";

const STYLES: { [verdict in Judgement]: Style } = { accept: "green", reject: "red", unsure: "yellow" };
const MARGIN = 9;

export function remarkLines(
  terminal: Terminal,
  annotations: readonly AnnotationRecord[],
  { messages, maxLength }: { messages: readonly TrajectoryMessage[]; maxLength: number },
): string[] {
  return annotations.flatMap(({ by, at, verdict, tags = [], note = "", message }) => {
    const role = messages[message ?? -1]?.role ?? "not in the record";
    const facts = [
      `by ${by}`,
      ...(message === undefined ? [] : [`on message ${message} (${role})`]),
      ...(tags.length > 0 ? [`tags ${tags.join(", ")}`] : []),
      at,
    ];
    const word = (verdict ?? "–").padStart(MARGIN - 2);
    const width = Math.max(40, Math.min(terminal.columns(), 120) - MARGIN);
    const noted = note === "" ? [] : printable(cut(note, maxLength)).split("\n");
    return [
      `${verdict ? terminal.paint(STYLES[verdict], word) : word}  ${cut(printableName(facts.join(", ")), maxLength)}`,
      ...noted.flatMap((line) => wrap(line, width)).map((line) => " ".repeat(MARGIN) + line),
    ];
  });
}
