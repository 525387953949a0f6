// The dialogues that a page shows: which ones is decided first, then only those are read and kept, cut to a bounded size.
import { cutText, findErrors, type Trajectory } from "../../core/index.ts";
import { readLines } from "../../files/index.ts";
import { keyText, listRecordFiles, openRun, readHead, readTrajectory } from "../../runs/index.ts";
import { type RankedQuery, rankQueries } from "./rank-queries.ts";
import type { Report, RolloutVerdict } from "./report.ts";

type Piece = { who: "user" | "agent" | "thinks" | "calls" | "result" | "error"; text: string };
export type Dialogue = {
  pieces: Piece[];
  /** pieces that did not fit */
  left: number;
};
/** By the rollout's key as text. */
export type Dialogues = ReadonlyMap<string, Dialogue>;

const MAX_QUERIES = 100;
const MAX_DIALOGUES = 3;
const MAX_DIALOGUE = 12_000;
const MAX_TEXT = 1000;
const MAX_RESULT = 300;

/** The queries that a page shows, worst first. */
export function chooseQueries(report: Report): RankedQuery[] {
  return rankQueries(report).slice(0, MAX_QUERIES);
}

const ORDER = { failed: 0, unscored: 1, "not scored yet": 2, solved: 3, "not played": 4 };

/** A query's verdicts in the order in which a page shows them: failed ones first. */
export function orderVerdicts(verdicts: readonly RolloutVerdict[]): RolloutVerdict[] {
  return verdicts.toSorted((a, b) => ORDER[a.verdict] - ORDER[b.verdict]);
}

export function readDialogues(report: Report): Dialogues {
  const wanted = new Set(
    chooseQueries(report).flatMap(({ dataset, query: queryId, verdicts }) =>
      orderVerdicts(verdicts)
        .filter(({ verdict }) => verdict !== "not played")
        .slice(0, MAX_DIALOGUES)
        .map(({ rollout }) => keyText({ dataset, queryId, rollout })),
    ),
  );
  const found = new Map<string, Dialogue>();
  const { path, manifest } = openRun(report.folder);
  for (const { dataset, file } of listRecordFiles(path, manifest)) {
    for (const line of readLines(file)) {
      if (line.isOpen || found.size === wanted.size) break;
      const head = readHead(line, dataset);
      const key = head && keyText(head);
      if (key === undefined || !wanted.has(key) || found.has(key)) continue;
      const read = readTrajectory(line.bytes, dataset);
      if (typeof read === "object") found.set(key, toDialogue(read.trajectory));
    }
  }
  return found;
}

function toDialogue(trajectory: Trajectory): Dialogue {
  const pieces = toPieces(trajectory);
  let room = MAX_DIALOGUE;
  const fitting = pieces.findIndex(({ text }) => {
    room -= text.length;
    return room < 0;
  });
  const shown = fitting === -1 ? pieces.length : fitting;
  return { pieces: pieces.slice(0, shown), left: pieces.length - shown };
}

function toPieces(trajectory: Trajectory): Piece[] {
  const errors = findErrors(trajectory);
  return trajectory.messages.flatMap((message): Piece[] => {
    if (message.role === "user") return [{ who: "user", text: cutText(message.content, MAX_TEXT) }];
    if (message.role === "tool")
      return [
        { who: errors.has(message.tool_call_id) ? "error" : "result", text: cutText(message.content, MAX_RESULT) },
      ];
    const { reasoning_content: reasoning, content, tool_calls: calls = [] } = message;
    return [
      ...(reasoning ? [{ who: "thinks" as const, text: cutText(reasoning, MAX_RESULT) }] : []),
      ...(content ? [{ who: "agent" as const, text: cutText(content, MAX_TEXT) }] : []),
      ...calls.map(({ function: { name, arguments: args } }) => ({
        who: "calls" as const,
        text: cutText(`${name} ${args}`, MAX_TEXT),
      })),
    ];
  });
}
