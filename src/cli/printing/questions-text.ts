// What a question set came to, as tables for a terminal.
import { readCost } from "../../core/index.ts";
import type { AnswerNumbers, Effort, QuestionSet } from "../../scoring/index.ts";
import { costText } from "./cost-text.ts";
import { count, cut, duration, printableName, type Terminal, table } from "./terminal.ts";

const MAX_IDS = 10;
const MAX_ROUNDS = 10;

export function questionLines(terminal: Terminal, name: string, set: QuestionSet): string[] {
  const columns = (["matched", "judged", "solved"] as const).flatMap((column) => {
    const numbers = set[column];
    return numbers ? [{ column, numbers }] : [];
  });
  const failed = set.infrastructure > 0 ? `, ${count(set.infrastructure)} infrastructure failures not counted` : "";
  const title = `${cut(printableName(name), 60)}: ${count(set.questions)} questions, ${count(set.rollouts)} rollouts in ${set.rounds} rounds${failed}`;
  const ends = Object.entries(set.terminations).sort(([, a], [, b]) => b - a);
  return [
    "",
    terminal.paint("bold", title),
    ...(columns.length > 0
      ? table([["", ...columns.map(({ column }) => column)], ...answerRows(columns.map(({ numbers }) => numbers))], {
          right: columns.map((_, index) => index + 1),
        })
      : ["Nothing is scored: --eval scores the answers."]),
    "",
    ...table(
      [
        ["", "model calls", "tool calls", "tokens", "time", "cost"],
        ["per rollout", ...effortCells(set.per_rollout)],
        ["per question", ...effortCells(set.per_question)],
      ],
      { right: [1, 2, 3, 4, 5] },
    ),
    `terminations: ${ends.map(([reason, number]) => `${reason} ${count(number)}`).join(", ") || "–"}`,
    ...idLines(columns.at(-1)?.numbers),
  ];
}

function answerRows(columns: AnswerNumbers[]): string[][] {
  const row = (name: string, read: (numbers: AnswerNumbers) => number | null) => [
    name,
    ...columns.map((numbers) => share(read(numbers))),
  ];
  const most = Math.max(...columns.map(({ pass_at_k }) => Object.keys(pass_at_k).length));
  const rounds = columns[0]?.rounds ?? [];
  return [
    ...Array.from({ length: most }, (_, index) => String(index + 1)).map((k) =>
      row(`pass@${k}`, ({ pass_at_k }) => pass_at_k[k] ?? null),
    ),
    row("average pass@1", ({ average_pass_at_1 }) => average_pass_at_1),
    row("best pass@1", ({ best_pass_at_1 }) => best_pass_at_1),
    ...rounds
      .slice(0, MAX_ROUNDS)
      .map(({ round }, index) => row(`round ${round}`, (numbers) => numbers.rounds[index]?.accuracy ?? null)),
    ["solved by all", ...columns.map(({ solved_by_all }) => count(solved_by_all.count))],
    ["solved by none", ...columns.map(({ solved_by_none }) => count(solved_by_none.count))],
  ];
}

/** By the last column: a judge's, if there is one. */
function idLines(numbers: AnswerNumbers | undefined): string[] {
  if (!numbers) return [];
  const line = (name: string, { ids }: AnswerNumbers["solved_by_all"]) =>
    ids.length === 0
      ? []
      : [
          `${name}: ${ids
            .slice(0, MAX_IDS)
            .map((id) => cut(printableName(id), 40))
            .join(", ")}${ids.length > MAX_IDS ? `, and ${count(ids.length - MAX_IDS)} more` : ""}`,
        ];
  return [
    ...line("solved by no rollout", numbers.solved_by_none),
    ...line("solved by every rollout", numbers.solved_by_all),
  ];
}

function effortCells(effort: Effort): string[] {
  return [
    effort.model_calls.toFixed(1),
    effort.tool_calls.toFixed(1),
    count(Math.round(effort.tokens)),
    duration(effort.seconds * 1000),
    costText(readCost(effort), { names: false, show: (dollars) => `$${dollars.toFixed(dollars < 1 ? 4 : 2)}` }),
  ];
}

function share(value: number | null): string {
  return value === null ? "–" : `${(value * 100).toFixed(1)} %`;
}
