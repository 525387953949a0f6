// A dialogue as people read it.
import {
  type Entry,
  findErrors,
  isAside,
  type OpeningMessage,
  type OtherCall,
  type Trajectory,
  type TrajectoryMessage,
} from "../../core/index.ts";
import { readUserText, toMessages } from "../../dialogue/index.ts";
import type { SeatItem } from "../../viewer/index.ts";
import { cut, duration, printable, type Style, type Terminal } from "./terminal.ts";

type Look = { label: string; style: Style };

const LOOKS = {
  user: { label: "user", style: "cyan" },
  agent: { label: "agent", style: "green" },
  thinking: { label: "thinks", style: "gray" },
  call: { label: "calls", style: "yellow" },
  result: { label: "result", style: "magenta" },
  error: { label: "error", style: "red" },
  userCall: { label: "does", style: "cyan" },
  userResult: { label: "sees", style: "magenta" },
  setup: { label: "setup", style: "gray" },
  summary: { label: "summary", style: "yellow" },
} as const satisfies { [kind: string]: Look };

type Piece = { kind: keyof typeof LOOKS; text: string };

export function trajectoryLines(terminal: Terminal, trajectory: Trajectory, maxLength = 600): string[] {
  const errors = findErrors(trajectory);
  const others = trajectory.other_calls ?? [];
  const summaries = trajectory.summaries ?? [];
  const asides = (at: number): Piece[] => [
    ...others.filter(({ after }) => after === at).flatMap(asidePieces),
    ...summaries
      .filter(({ after }) => after === at)
      .map(({ content }) => ({ kind: "summary" as const, text: content })),
  ];
  const pieces = trajectory.messages.flatMap((message, at): Piece[] => [
    ...asides(at),
    ...messagePieces(message, errors),
  ]);
  return [...pieces, ...asides(trajectory.messages.length)].flatMap((piece) => pieceLines(terminal, piece, maxLength));
}

/** What the agent neither did nor saw. */
function asidePieces({ party, name, arguments: text, content }: OtherCall): Piece[] {
  if (party === "setup") return [{ kind: "setup", text: `${name} ${text}` }];
  return [
    { kind: "userCall", text: `${name} ${text}` },
    { kind: "userResult", text: content },
  ];
}

function messagePieces(message: TrajectoryMessage, errors: ReadonlySet<string>): Piece[] {
  if (message.role === "user") return [{ kind: "user", text: message.content }];
  if (message.role === "tool")
    return [{ kind: errors.has(message.tool_call_id) ? "error" : "result", text: message.content }];
  return [
    ...(message.reasoning_content ? [{ kind: "thinking" as const, text: message.reasoning_content }] : []),
    ...(message.content ? [{ kind: "agent" as const, text: message.content }] : []),
    ...(message.tool_calls ?? []).map((call) => ({
      kind: "call" as const,
      text: `${call.function.name} ${call.function.arguments}`,
    })),
  ];
}

/** Messages that were there before any model was asked. */
export function messageLines(terminal: Terminal, messages: readonly OpeningMessage[], maxLength: number): string[] {
  return messages
    .flatMap((message) => messagePieces(message, new Set()))
    .flatMap((piece) => pieceLines(terminal, piece, maxLength));
}

export function entryLines(terminal: Terminal, entry: Entry, maxLength: number): string[] {
  const pieces: Piece[] = [];
  if (entry.type === "tool-result") {
    if (entry.by === "setup") pieces.push({ kind: "setup", text: `${entry.name} → ${entry.content}` });
    else if (entry.isError) pieces.push({ kind: "error", text: entry.content });
    else pieces.push({ kind: entry.by === "user" ? "userResult" : "result", text: entry.content });
  }
  if (entry.type === "summary")
    pieces.push(
      entry.rejected
        ? { kind: "error", text: `summary not used (${entry.rejected}): ${entry.content}` }
        : { kind: "summary", text: entry.content },
    );
  if (entry.type === "verdict")
    pieces.push({ kind: "thinking", text: `judge: ${entry.stop ? "over" : "not over"}, ${entry.reason}` });
  if (entry.type === "reply") {
    if (entry.rejected)
      pieces.push({ kind: "error", text: `${entry.by} reply not used (${entry.rejected}): ${entry.content}` });
    else if (isAside(entry)) {
      for (const call of entry.toolCalls) pieces.push({ kind: "userCall", text: `${call.name} ${call.arguments}` });
    } else if (entry.by === "user") {
      const { text, end } = readUserText(entry.content);
      pieces.push({ kind: "user", text: [text, end && `[${end}]`].filter(Boolean).join(" ") });
    } else {
      if (entry.reasoning) pieces.push({ kind: "thinking", text: entry.reasoning });
      if (entry.content) pieces.push({ kind: "agent", text: entry.content });
      for (const call of entry.toolCalls) pieces.push({ kind: "call", text: `${call.name} ${call.arguments}` });
    }
  }
  return pieces.flatMap((piece) => pieceLines(terminal, piece, maxLength));
}

/** What a person on a seat sees, in full: they have to work with it. */
export function seatLines(terminal: Terminal, { by, text, calls = [], isError, end }: SeatItem): string[] {
  const said = [text, end && `[${end}]`].filter(Boolean).join(" ");
  const kind = by === "tool" ? (isError ? "error" : "result") : by;
  const pieces: Piece[] = [
    ...(said === "" ? [] : [{ kind, text: said } as const]),
    ...calls.map((call) => ({ kind: "call" as const, text: `${call.name} ${call.arguments}` })),
  ];
  return pieces.flatMap((piece) => pieceLines(terminal, piece, Number.POSITIVE_INFINITY));
}

/** The opening of the dialogue, before any model was asked. */
export function openingLines(
  terminal: Terminal,
  trajectory: Trajectory,
  { entries, maxLength }: { entries: readonly Entry[]; maxLength: number },
): string[] {
  const opening = trajectory.messages.length - toMessages([], entries).length;
  return messageLines(terminal, trajectory.messages.slice(0, opening), maxLength);
}

/** Entries with how long each took: since the one before it, or since the start. */
export function timedEntryLines(
  terminal: Terminal,
  entries: readonly Entry[],
  { startedAt, maxLength }: { startedAt: string | undefined; maxLength: number },
): string[] {
  let before = startedAt === undefined ? undefined : Date.parse(startedAt);
  return entries.flatMap((entry) => {
    const at = Date.parse(entry.at);
    const took = before === undefined ? "" : terminal.paint("gray", `  ${duration(Math.max(0, at - before))}`);
    before = at;
    const [first = "", ...rest] = entryLines(terminal, entry, maxLength);
    return [first + took, ...rest];
  });
}

const MARGIN = 9;

function pieceLines(terminal: Terminal, { kind, text }: Piece, maxLength: number): string[] {
  const { label, style } = LOOKS[kind];
  const width = Math.max(40, Math.min(terminal.columns(), 120) - MARGIN);
  const lines = printable(cut(text, maxLength))
    .split("\n")
    .flatMap((line) => wrap(line, width));
  return lines.map(
    (line, index) =>
      `${terminal.paint(style, (index === 0 ? label : "").padStart(MARGIN - 2))}  ${kind === "thinking" ? terminal.paint("gray", line) : line}`,
  );
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<= )/)) {
    if (line && line.length + word.trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += line === "" ? word.trimStart() : word;
    while (line.trimEnd().length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  return [...lines, line.trimEnd()];
}
