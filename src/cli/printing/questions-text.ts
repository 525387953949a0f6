// What a question set came to, as tables for a terminal.
import { readCost } from "../../core/index.ts";
import { type AnswerNumbers, type Effort, type QuestionSet, questionRows } from "../../scoring/index.ts";
import { costText } from "./cost-text.ts";
import { count, cut, duration, printableName, type Terminal, table } from "./terminal.ts";

const MAX_IDS = 10;

export function questionLines(terminal: Terminal, name: string, set: QuestionSet): string[] {
  const { questions, rollouts, rounds, infrastructure } = set;
  const failed = infrastructure > 0 ? `, ${several(infrastructure, "infrastructure failure")} not counted` : "";
  const made = `${several(questions, "question")}, ${several(rollouts, "rollout")} in ${several(rounds, "round")}`;
  const ends = Object.entries(set.terminations).sort(([, a], [, b]) => b - a);
  const rows = questionRows(set);
  return [
    "",
    terminal.paint("bold", `${cut(printableName(name), 60)}: ${made}${failed}`),
    ...(rows ? table(rows, { right: [1, 2, 3] }) : ["Nothing is scored: --eval scores the answers."]),
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
    ...idLines(set.judged ?? set.matched ?? set.solved),
  ];
}

function several(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
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
