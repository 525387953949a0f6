import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../core/index.ts";
import { inspectRow, type TemplateRow } from "./inspect.ts";
import { type ChatTemplate, loadTemplate } from "./load-template.ts";
import { TemplateReport } from "./report.ts";

function templateOf(source: string): ChatTemplate {
  const file = join(mkdtempSync(join(tmpdir(), "inspect-")), "chat_template.jinja");
  writeFileSync(file, source);
  return loadTemplate(file);
}

/** Small templates that differ in one thing each. */
function chat({
  reasoning = "{{ m.reasoning_content or '' }}",
  text = "{{ m.content }}",
  calls = "",
  tools = "",
  before = "",
}) {
  return templateOf(
    `${tools}${before}{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}<r>${reasoning}</r>{% endif %}${text}` +
      `{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}:${calls}</call>{% endfor %}<|end|>{% endfor %}` +
      `{% if add_generation_prompt %}<|assistant|><r>{% endif %}`,
  );
}
const AS_JSON = "{{ c.function.arguments | tojson }}";
const AS_XML = "{% for k, v in c.function.arguments | items %}<p={{ k }}>{{ v }}</p>{% endfor %}";
const LAST_USER =
  "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}";
const AFTER_LAST_USER = "{% if loop.index0 > ns.last %}{{ m.reasoning_content or '' }}{% endif %}";
const TOOLS = "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}";

const keepsAll = chat({ calls: AS_JSON, tools: TOOLS });
const dropsOld = chat({ calls: AS_JSON, before: LAST_USER, reasoning: AFTER_LAST_USER });
const dropsAll = chat({ calls: AS_JSON, reasoning: "" });
const writesXml = chat({ calls: AS_XML });

const tool = (name: string): JsonObject => ({
  type: "function",
  function: {
    name,
    description: `Says "${name}"`,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
});

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "",
    " \n",
    "ok",
    " ok\n",
    "so </think> then",
    "<tool_response>x</tool_response>",
    'a "b" \\ c',
    "<b>",
    "\ue0f01\ue0f1",
    "{{ m }}",
  ),
);
const args = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
);
const turn = fc.record({
  user: text,
  steps: fc.array(fc.record({ reasoning: fc.option(text), content: text, calls: fc.array(args, { maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

function rowOf(turns: Turn[], options: { asText?: boolean; tools?: TemplateRow["tools"] } = {}): TemplateRow {
  const messages: JsonObject[] = [{ role: "system", content: "Be kind." }];
  for (const { user, steps } of turns) {
    messages.push({ role: "user", content: user });
    for (const { reasoning, content, calls } of steps) {
      const tool_calls = calls.map((given, number) => ({
        id: `call${number}`,
        type: "function",
        function: { name: "look_up", arguments: options.asText ? JSON.stringify(given) : (given as JsonObject) },
      }));
      messages.push({
        role: "assistant",
        content,
        ...(reasoning === null ? {} : { reasoning_content: reasoning }),
        ...(calls.length > 0 ? { tool_calls } : {}),
      });
      for (const { id } of tool_calls) messages.push({ role: "tool", content: "found", tool_call_id: id });
    }
  }
  return { messages, tools: options.tools, loss: messages.map(({ role }) => role === "assistant") };
}

const isFull = (value: unknown) => typeof value === "string" && value.trim() !== "";
const countReasoning = (messages: JsonObject[]) => messages.filter((m) => isFull(m.reasoning_content)).length;
const countCalls = (messages: JsonObject[]) =>
  messages.flatMap((m) => (m.tool_calls as JsonObject[] | undefined) ?? []).length;
const dialogues = fc.array(turn, { minLength: 1, maxLength: 3 });

test("a template that keeps everything loses nothing of any dialogue", () => {
  fc.assert(
    fc.property(dialogues, (turns) => {
      const row = rowOf(turns, { tools: [tool("look_up"), tool("other")] });
      const { learnt, raised, ...seen } = inspectRow(keepsAll, row);
      const reasoning = countReasoning(row.messages);
      const texts = row.messages.filter((m) => isFull(m.content)).length;
      const calls = countCalls(row.messages);
      expect(raised).toBeUndefined();
      expect(seen).toEqual({
        reasoning: { recorded: reasoning, rendered: reasoning },
        trainedReasoning: { recorded: reasoning, rendered: reasoning },
        texts: { recorded: texts, rendered: texts },
        calls: { recorded: calls, once: calls, twice: 0, lost: 0 },
        tools: { offered: 2, readable: 2, escaped: 0, lost: 0 },
      });
      expect([learnt.results, learnt.user, learnt.system]).toEqual(["", "", ""]);
    }),
  );
});

test("reasoning that a template drops is counted, whatever else has the same words", () => {
  fc.assert(
    fc.property(dialogues, (turns) => {
      const row = rowOf(turns);
      const recorded = countReasoning(row.messages);
      const last = row.messages.findLastIndex(({ role }) => role === "user");
      expect(inspectRow(dropsAll, row).trainedReasoning).toEqual({ recorded, rendered: 0 });
      expect(inspectRow(dropsOld, row).trainedReasoning).toEqual({
        recorded,
        rendered: countReasoning(row.messages.slice(last)),
      });
    }),
  );
});

test("arguments given as text are encoded twice by a template that turns them into JSON, and refused by one that goes through them", () => {
  fc.assert(
    fc.property(dialogues, (turns) => {
      const row = rowOf(turns, { asText: true });
      const recorded = countCalls(row.messages);
      expect(inspectRow(keepsAll, row).calls).toEqual({ recorded, once: 0, twice: recorded, lost: 0 });
      expect(inspectRow(writesXml, rowOf(turns)).calls).toEqual({ recorded, once: recorded, twice: 0, lost: 0 });
      const refused = inspectRow(writesXml, row).raised;
      if (recorded > 0) expect(refused).toMatch(/mapping/);
      else expect(refused).toBeUndefined();
    }),
  );
});

test("all that is rendered of the agent's messages is learnt, each kind by itself", () => {
  const words = fc.stringMatching(/^[a-z]{1,8}$/);
  const plain = fc.record({
    user: words,
    steps: fc.array(
      fc.record({ reasoning: words, content: words, calls: fc.array(fc.dictionary(words, words), { maxLength: 2 }) }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  });
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 3 }), (turns) => {
      const { learnt } = inspectRow(keepsAll, rowOf(turns));
      const steps = turns.flatMap((one) => one.steps);
      const spaced = (given: object) => JSON.stringify(given).replaceAll('":"', '": "').replaceAll('","', '", "');
      expect(learnt).toEqual({
        reasoning: steps.map(({ reasoning }) => reasoning).join(""),
        text: steps.map(({ content }) => content).join(""),
        calls: steps.flatMap(({ calls }) => calls.map((given) => `look_up${spaced(given)}`)).join(""),
        results: "",
        user: "",
        system: "",
        markup: steps.map(({ calls }) => `</r>${"<call>:</call>".repeat(calls.length)}<|end|>`).join(""),
      });
    }),
  );
});

const call = (id: string, given: JsonObject | string): JsonObject => ({
  id,
  type: "function",
  function: { name: "look_up", arguments: given },
});
const single: TemplateRow = {
  messages: [
    { role: "user", content: "Where?" },
    { role: "assistant", content: "", reasoning_content: "Look.", tool_calls: [call("abcdefgh1", { city: "Rome" })] },
    { role: "tool", content: "There.", tool_call_id: "abcdefgh1" },
    { role: "assistant", content: "<think>\nSeen.\n</think>\n\nThere." },
  ],
  tools: [tool("look_up")],
  loss: [false, true, false, true],
};
const withMessage = (index: number, change: JsonObject): TemplateRow => ({
  ...single,
  messages: single.messages.map((message, at) => (at === index ? { ...message, ...change } : message)),
});

test("a row that the template refuses is reported in the template's words", () => {
  const ids = chat({
    calls: `{% if c.id | length != 9 %}{{ raise_exception('An id has 9 characters') }}{% endif %}${AS_JSON}`,
  });
  const alone = chat({
    before:
      "{% for m in messages if m.tool_calls %}{% if m.tool_calls | length > 1 %}{{ raise_exception('One call!') }}{% endif %}{% endfor %}",
  });
  expect(inspectRow(ids, single)).toMatchObject({ calls: { recorded: 1, once: 1 } });
  expect(inspectRow(ids, withMessage(1, { tool_calls: [call("c1", {})] })).raised).toBe("An id has 9 characters");
  expect(inspectRow(alone, single).raised).toBeUndefined();
  const two = [call("abcdefgh1", {}), call("abcdefgh2", {})];
  expect(inspectRow(alone, withMessage(1, { tool_calls: two })).raised).toBe("One call!");
});

test("tools as a list, as text and as escaped text are told apart, and so are their parameters", () => {
  const counts = (source: string, tools: TemplateRow["tools"]) =>
    inspectRow(chat({ tools: source }), { ...single, tools }).tools;
  const list = [tool("look_up")];
  const texted = [
    {
      type: "function",
      function: {
        ...(list[0]?.function as JsonObject),
        parameters: '{"type":"object","properties":{"a":{"type":"string"}}}',
      },
    },
  ];
  expect(counts("{{ tools | tojson }}", list)).toEqual({ offered: 1, readable: 1, escaped: 0, lost: 0 });
  expect(counts("{{ tools }}", JSON.stringify(list))).toMatchObject({ readable: 1 });
  expect(counts("{{ tools | tojson }}", JSON.stringify(list))).toMatchObject({ escaped: 1 });
  expect(counts("{{ tools | tojson }}", texted)).toMatchObject({ escaped: 1 });
  expect(counts(TOOLS, JSON.stringify(list))).toMatchObject({ lost: 1 });
  expect(
    counts("{% for t in tools %}{{ t.function.name }}: {{ t.function.description }}{% endfor %}", list),
  ).toMatchObject({ lost: 1 });
  expect(counts("", list)).toMatchObject({ lost: 1 });
});

test("reasoning inside the text counts as reasoning, and a template may cut it out", () => {
  const cuts = chat({ reasoning: "", text: "{{ m.content.split('</think>')[-1].lstrip('\\n') }}", calls: AS_JSON });
  expect(inspectRow(keepsAll, single)).toMatchObject({
    reasoning: { recorded: 2, rendered: 2 },
    texts: { recorded: 3, rendered: 3 },
  });
  expect(inspectRow(cuts, single)).toMatchObject({
    reasoning: { recorded: 2, rendered: 0 },
    texts: { recorded: 3, rendered: 3 },
  });
  expect(inspectRow(cuts, withMessage(2, { content: "There </think> it is" })).texts).toEqual({
    recorded: 3,
    rendered: 2,
  });
});

test("a template that the marks would mislead is judged by the plain text", () => {
  const counts = chat({ text: "{{ m.content | length }} {{ m.content }}", calls: AS_JSON });
  const tagged = chat({
    text: "{% if m.content.startswith('<tool_response>') %}skipped{% else %}{{ m.content }}{% endif %}",
  });
  expect(inspectRow(counts, single)).toMatchObject({
    reasoning: { recorded: 2, rendered: 2 },
    texts: { recorded: 3, rendered: 3 },
  });
  expect(inspectRow(tagged, withMessage(0, { content: "<tool_response>Where?</tool_response>" })).texts).toEqual({
    recorded: 3,
    rendered: 2,
  });
  const hints = chat({ reasoning: "{{ m.reasoning_content | length }}", calls: AS_JSON });
  expect(inspectRow(hints, withMessage(1, { reasoning_content: "There." })).reasoning).toEqual({
    recorded: 2,
    rendered: 1,
  });
  const strict = chat({
    calls: `{% if c.function.arguments | length > 1 %}{{ raise_exception('odd') }}{% endif %}${AS_JSON}`,
  });
  expect(inspectRow(strict, single)).toMatchObject({ calls: { once: 1 }, tools: { lost: 1 } });
});

test("a template that writes ASCII only loses nothing by it", () => {
  const ascii = chat({
    text: "{{ m.content | tojson(ensure_ascii=true) }}",
    calls: "{{ c.function.arguments | tojson(ensure_ascii=true) }}",
  });
  const row = withMessage(2, { content: 'Là-bas "ici" \\' });
  expect(inspectRow(ascii, row)).toMatchObject({
    texts: { recorded: 3, rendered: 3 },
    calls: { recorded: 1, once: 1 },
  });
  const given = JSON.stringify({ city: 'Où "?"' });
  expect(inspectRow(ascii, withMessage(1, { tool_calls: [call("abcdefgh1", given)] })).calls).toMatchObject({
    twice: 1,
  });
});

test("generation blocks change nothing", () => {
  const blocks = chat({
    reasoning: "{% generation %}{{ m.reasoning_content or '' }}",
    text: "{{ m.content }}{% endgeneration %}",
    calls: AS_JSON,
    tools: TOOLS,
  });
  expect(inspectRow(blocks, single)).toEqual(inspectRow(keepsAll, single));
});

test("long texts are judged in time", () => {
  const long = withMessage(2, { content: `${"x".repeat(100_000)}${" ".repeat(100_000)}y` });
  const start = performance.now();
  expect(inspectRow(keepsAll, long).texts).toEqual({ recorded: 3, rendered: 3 });
  expect(performance.now() - start).toBeLessThan(20_000);
});

test("a report counts problems by kind and names the rows that have them", () => {
  const report = new TemplateReport(chat({ reasoning: "", text: "", tools: "" }));
  report.see(single, "a");
  report.see({ ...single, tools: undefined, loss: [true, true, true, true] }, "b");
  const leak = new TemplateReport(keepsAll);
  leak.see({ ...single, loss: [true, false, true, false] }, "c");
  expect(report.report()).toMatchObject({
    rows: 2,
    reasoning: { recorded: 4, rendered: 0 },
    calls: { recorded: 2, lost: 2 },
  });
  expect(report.report().problems).toEqual([
    { problem: "reasoning in the loss is not rendered", rows: 2, examples: ["a", "b"] },
    { problem: "a message's text is not rendered whole", rows: 2, examples: ["a", "b"] },
    { problem: "arguments of calls are not rendered", rows: 2, examples: ["a", "b"] },
    { problem: "tools are not rendered whole", rows: 1, examples: ["a"] },
  ]);
  expect(leak.report().problems.map(({ problem }) => problem)).toEqual([
    "tool results are in the loss",
    "the user's words are in the loss",
  ]);
});
