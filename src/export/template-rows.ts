// Rows as their trainer's loader hands them to a chat template, and what the template makes of them.
import { isObject, type JsonObject, UsageError } from "../core/index.ts";
import type { Format } from "./formats/format.ts";
import { plainRows } from "./pair-rows.ts";
import type { ExportRecord } from "./record.ts";
import { RowMaker } from "./row-maker.ts";
import { rowText } from "./row-text.ts";
import type { TemplateRow } from "./templates/inspect.ts";
import { loadTemplate } from "./templates/load-template.ts";
import { TemplateReport, type TemplateSummary } from "./templates/report.ts";
import { learntOf } from "./unroll.ts";

export type TemplateOptions = {
  /** a template file, a tokenizer folder, or the name of a model in the local cache */
  template?: string;
  /** where models' snapshots are looked for */
  hubFolders?: string[];
};

export class TemplateCheck {
  readonly #format: Format;
  readonly #report: TemplateReport;

  constructor(format: Format, given: string, hubFolders: string[] = []) {
    if (!format.template)
      throw new UsageError(
        `--template does not go with ${format.name}: ${format.oncePerQuery ? "its rows are prompts alone" : "its trainer has templates of its own"}`,
      );
    this.#format = format;
    this.#report = new TemplateReport(loadTemplate(given, { hubFolders }));
  }

  static open(format: Format, { template, hubFolders }: TemplateOptions): TemplateCheck | undefined {
    return template === undefined ? undefined : new TemplateCheck(format, template, hubFolders);
  }

  /** What a model would not see or learn of the row. */
  see(row: JsonObject, id: string): string[] {
    const problems = plainRows(row).flatMap((plain) =>
      this.#report.problemsOf(this.#report.see(toTemplateRow(this.#format, plain), id)),
    );
    return [...new Set(problems)];
  }

  report(): TemplateSummary {
    return this.#report.report();
  }
}

/** Records, one row for each turn, with arguments as objects: as most trainers show them to a template. */
export class RecordTemplateCheck {
  readonly #rows = new RowMaker({ format: "axolotl", unroll: "turn" });
  readonly #check: TemplateCheck;

  constructor(template: string, hubFolders: string[] = []) {
    this.#check = new TemplateCheck(this.#rows.format, template, hubFolders);
  }

  see(record: ExportRecord): void {
    const made = this.#rows.write(record, { split: "train", index: 0 });
    if ("rows" in made)
      for (const { row } of made.rows) this.#check.see(JSON.parse(rowText(row)) as JsonObject, String(row.id));
  }

  report(): TemplateSummary {
    return this.#check.report();
  }
}

function toTemplateRow(format: Format, row: JsonObject): TemplateRow {
  const { messages, tools } = (format.template as NonNullable<Format["template"]>)(row);
  const { dialogue } = format.read(row);
  const learnt = new Set<unknown>(learntOf(dialogue.messages));
  const spoken = dialogue.messages.values();
  const isPrompt = (role: unknown, index: number) => index === 0 && (role === "system" || role === "developer");
  const loss = messages.map(({ role }, index) => !isPrompt(role, index) && learnt.has(spoken.next().value));
  const { chat_template_kwargs: given } = row;
  return {
    messages: messages.map(withThinking),
    tools,
    loss,
    ...(isObject(given) && { variables: given as JsonObject }),
  };
}

/** As transformers does from version 5 on: templates look for a message's reasoning under either name. */
function withThinking(message: JsonObject): JsonObject {
  const { reasoning_content, thinking } = message;
  return reasoning_content && thinking === undefined ? { ...message, thinking: reasoning_content } : message;
}
