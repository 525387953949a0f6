// The answers of a question set as a table, on the page and in a terminal alike: a column for matching, and one for the
// judge if there is one.
import type { AnswerNumbers, QuestionSet } from "./questions.ts";
import { percent } from "./svg.ts";

const MAX_ROUNDS = 20;

/** The header first; undefined if nothing is scored. */
export function questionRows(set: QuestionSet): string[][] | undefined {
  const names = (["matched", "judged", "solved"] as const).filter((name) => set[name]);
  const columns = names.map((name) => set[name] as AnswerNumbers);
  const [first] = columns;
  if (!first) return undefined;
  const row = (name: string, read: (numbers: AnswerNumbers) => number | null) => [
    name,
    ...columns.map((numbers) => percent(read(numbers))),
  ];
  const most = Math.max(...columns.map(({ pass_at_k }) => Object.keys(pass_at_k).length));
  const steps = Array.from({ length: most }, (_, index) => String(index + 1));
  const shown = first.rounds.slice(0, MAX_ROUNDS);
  return [
    ["", ...names],
    ...steps.map((k) => row(`pass@${k}`, ({ pass_at_k }) => pass_at_k[k] ?? null)),
    row("average pass@1", ({ average_pass_at_1 }) => average_pass_at_1),
    row("best pass@1", ({ best_pass_at_1 }) => best_pass_at_1),
    ...shown.map(({ round }, index) => row(`round ${round}`, ({ rounds }) => rounds[index]?.accuracy ?? null)),
    ...(first.rounds.length > MAX_ROUNDS ? [["…", ...names.map(() => "")]] : []),
    ["solved by all", ...columns.map(({ solved_by_all }) => String(solved_by_all.count))],
    ["solved by none", ...columns.map(({ solved_by_none }) => String(solved_by_none.count))],
  ];
}
