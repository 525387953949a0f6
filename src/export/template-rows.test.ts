// What trainers would learn of our rows, behind small templates of our own: any dialogue, every format that is rendered.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calls, line, record, result, says, user, writeRun } from "../../test/support/export-records.ts";
import type { JsonObject, TrajectoryMessage } from "../core/index.ts";
import { exportDataset } from "./export-dataset.ts";
import { FORMATS, findFormat } from "./formats/index.ts";
import { RowMaker, type RowOptions } from "./row-maker.ts";
import { rowText } from "./row-text.ts";
import { TemplateCheck } from "./template-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-templates-"));

function template(name: string, text: string): string {
  const file = join(folder, `${name}.jinja`);
  writeFileSync(file, text);
  return file;
}

const BODY = `{%- for m in messages %}<|{{ m.role }}|>
{%- if m.role == 'assistant' and m.reasoning_content and loop.index0 > KEPT %}<think>{{ m.reasoning_content }}</think>{% endif %}
{{- m.content or '' }}{% for c in m.tool_calls or [] %}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>{% endfor %}<|end|>
{%- endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`;
const TOOLS = "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}";
const LAST_USER =
  "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}";

/** As Qwen3, GLM and DeepSeek do: reasoning of the last turn only. */
const lastTurn = template("last-turn", TOOLS + LAST_USER + BODY.replace("KEPT", "ns.last"));
/** As gpt-oss does: reasoning of the last message only. */
const lastReply = template("last-reply", TOOLS + BODY.replace("KEPT", "(messages | length - 2)"));
/** As Mistral does: ids of nine letters and digits. */
const strictIds = template(
  "strict-ids",
  `{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}{{ raise_exception('ids of nine') }}{% endif %}{% endfor %}{% if m.role == 'tool' and m.tool_call_id | length != 9 %}{{ raise_exception('ids of nine') }}{% endif %}{% endfor %}${TOOLS}${BODY.replace("KEPT", "-1")}`,
);

const words = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("Yes.", "a </think> b", '{"a": "\\""}', "<|end|>"));
const step = fc.record({
  reasoning: fc.option(words),
  given: fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), { maxLength: 2 }),
  content: words,
});
const anyDialogue = fc.array(fc.record({ said: words, steps: fc.array(step, { minLength: 1, maxLength: 3 }) }), {
  minLength: 1,
  maxLength: 3,
});

function messagesOf(
  turns: { said: string; steps: { reasoning: string | null; given: object[]; content: string }[] }[],
) {
  let number = 0;
  return turns.flatMap(({ said, steps }): TrajectoryMessage[] => [
    user(said),
    ...steps.flatMap(({ reasoning, given, content }): TrajectoryMessage[] => {
      const ids = given.map(() => `call_${number++}`);
      const made = calls(
        ...ids.map((id, index): [string, string, string] => [id, "find_book", JSON.stringify(given[index])]),
      );
      const reply = given.length > 0 ? { ...made, content } : says(content);
      return [
        { ...reply, ...(reasoning ? { reasoning_content: reasoning } : {}) } as TrajectoryMessage,
        ...ids.map((id) => result(id, `{"found": "${id}"}`)),
      ];
    }),
  ]);
}

function check(messages: TrajectoryMessage[], file: string, options: RowOptions) {
  const made = new RowMaker(options).write(record({ messages }), { split: "train", index: 0 });
  const seen = new TemplateCheck(findFormat(options.format), file);
  if ("rows" in made) for (const { row } of made.rows) seen.see(JSON.parse(rowText(row)) as JsonObject, String(row.id));
  return { ...seen.report(), made };
}

const rendered = ["trl", "axolotl", "verl-sft"];

describe.each(rendered)("%s", (format) => {
  test("every block of reasoning is learnt once, arguments are encoded once, and nobody else's words are learnt", () => {
    fc.assert(
      fc.property(anyDialogue, (turns) => {
        const messages = messagesOf(turns);
        const {
          trainedReasoning,
          calls: encoded,
          tools,
          texts,
          problems,
          made,
        } = check(messages, lastTurn, { format });
        const recorded = messages.filter(
          (message) =>
            message.role === "assistant" &&
            message.reasoning_content?.trim() &&
            // an empty reply teaches nothing
            (message.content.trim() !== "" || message.tool_calls?.length),
        );
        if ("rows" in made && made.lost.length === 0) expect(trainedReasoning.recorded).toBe(recorded.length);
        expect(trainedReasoning.rendered).toBe(trainedReasoning.recorded);
        expect(encoded).toMatchObject({ twice: 0, lost: 0 });
        expect(tools).toMatchObject({ escaped: 0, lost: 0 });
        expect(texts.rendered).toBe(texts.recorded);
        expect(problems).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test("by dialogue, a template that shows the last turn's reasoning loses the others', and says so", () => {
    const messages = [user("a"), says("A", "one"), user("b"), says("B", "two"), user("thanks")];
    const { trainedReasoning, problems } = check(messages, lastTurn, { format, unroll: "dialogue" });
    expect(trainedReasoning).toEqual({ recorded: 2, rendered: 1 });
    expect(problems).toMatchObject([{ problem: "reasoning in the loss is not rendered", rows: 1 }]);
  });

  test("by step, even a template that shows the last reply's reasoning shows all that is learnt", () => {
    const messages = messagesOf([
      {
        said: "a",
        steps: [1, 2, 3].map((n) => ({ reasoning: `thought ${n}`, given: n < 3 ? [{ n }] : [], content: "x" })),
      },
    ]);
    expect(check(messages, lastReply, { format, unroll: "step" })).toMatchObject({
      trainedReasoning: { recorded: 3, rendered: 3 },
      problems: [],
    });
    expect(check(messages, lastReply, { format, unroll: "turn" }).trainedReasoning.rendered).toBe(1);
  });

  test("call ids are such as the strictest template takes, unless they are kept", () => {
    const messages = [
      user("a"),
      calls(["toolu_01abc", "find_book", '{"id": 1}']),
      result("toolu_01abc", "1"),
      says("A"),
    ];
    expect(check(messages, strictIds, { format }).problems).toEqual([]);
    const [kept] = check(messages, strictIds, { format, callIds: "keep" }).problems;
    expect(kept?.problem).toBe("the template refuses the row: ids of nine");
  });
});

test("arguments as text are encoded twice, and it is said", () => {
  const messages = [user("a"), calls(["a", "find_book", '{"id": 1}']), result("a", "1"), says("A")];
  const { calls: encoded, problems } = check(messages, lastTurn, { format: "trl", arguments: "string" });
  expect(encoded.twice).toBe(encoded.recorded);
  expect(problems[0]?.problem).toBe("arguments of calls are encoded twice");
});

test("a format whose trainer has templates of its own refuses a template", () => {
  for (const { name, template: has } of FORMATS.values())
    if (!has) expect(() => new TemplateCheck(findFormat(name), lastTurn)).toThrow(/templates of its own|prompts alone/);
});

test("an export reports what its template shows; with strict, rows that lose something stay out", async () => {
  const inputs = [writeRun([line("q1"), line("q2", { messages: [user("a"), says("A")] })])];
  const options = { inputs, format: "axolotl", unroll: "dialogue", template: lastTurn } as const;
  const all = await exportDataset({ ...options, out: join(folder, "all.jsonl") });
  expect(all.counts.out).toBe(2);
  expect(all.template).toMatchObject({ rows: 2, trainedReasoning: { recorded: 3, rendered: 1 } });
  const { settings } = JSON.parse(readFileSync(join(folder, "all.export.json"), "utf8"));
  expect(settings.template).toBe("last-turn.jinja");
  const strict = await exportDataset({ ...options, out: join(folder, "strict.jsonl"), strict: true });
  expect(strict.counts).toMatchObject({ out: 1, left_out: { "the chat template does not show all of it": 1 } });
});
