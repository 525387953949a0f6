// What a chat template makes of many rows: totals, and problems with the rows that have them.
import { type Inspection, inspectRow, type TemplateRow } from "./inspect.ts";
import type { ChatTemplate } from "./load-template.ts";

type Totals = Pick<Inspection, "reasoning" | "trainedReasoning" | "texts" | "calls" | "tools">;

export type TemplateSummary = Totals & {
  template: string;
  rows: number;
  /** most frequent first */
  problems: { problem: string; rows: number; examples: string[] }[];
};

const EXAMPLES = 3;

export class TemplateReport {
  readonly #template: ChatTemplate;
  #rows = 0;
  readonly #totals: Totals = {
    reasoning: { recorded: 0, rendered: 0 },
    trainedReasoning: { recorded: 0, rendered: 0 },
    texts: { recorded: 0, rendered: 0 },
    calls: { recorded: 0, once: 0, twice: 0, lost: 0 },
    tools: { offered: 0, readable: 0, escaped: 0, lost: 0 },
  };
  readonly #problems = new Map<string, { rows: number; examples: string[] }>();

  constructor(template: ChatTemplate) {
    this.#template = template;
  }

  see(row: TemplateRow, id: string): Inspection {
    const inspection = inspectRow(this.#template, row);
    this.#rows++;
    for (const part of Object.keys(this.#totals) as (keyof Totals)[]) add(this.#totals[part], inspection[part]);
    for (const problem of this.problemsOf(inspection)) {
      const seen = this.#problems.get(problem) ?? { rows: 0, examples: [] };
      seen.rows++;
      if (seen.examples.length < EXAMPLES) seen.examples.push(id);
      this.#problems.set(problem, seen);
    }
    return inspection;
  }

  /** One short sentence for each kind of problem. */
  problemsOf({ raised, trainedReasoning, texts, calls, tools, learnt }: Inspection): string[] {
    if (raised !== undefined) return [`the template refuses the row: ${raised}`];
    const problems: [boolean, string][] = [
      [trainedReasoning.rendered < trainedReasoning.recorded, "reasoning in the loss is not rendered"],
      [texts.rendered < texts.recorded, "a message's text is not rendered whole"],
      [calls.twice > 0, "arguments of calls are encoded twice"],
      [calls.lost > 0, "arguments of calls are not rendered"],
      [tools.escaped > 0, "tools are rendered as escaped text"],
      [tools.lost > 0, "tools are not rendered whole"],
      [learnt.results !== "", "tool results are in the loss"],
      [learnt.user !== "", "the user's words are in the loss"],
    ];
    return problems.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
  }

  report(): TemplateSummary {
    const problems = [...this.#problems].map(([problem, seen]) => ({ problem, ...seen }));
    return {
      template: this.#template.name,
      rows: this.#rows,
      ...structuredClone(this.#totals),
      problems: problems.sort((a, b) => b.rows - a.rows),
    };
  }
}

function add(total: { [name: string]: number }, more: { [name: string]: number }): void {
  for (const [name, value] of Object.entries(more)) total[name] = (total[name] ?? 0) + value;
}
