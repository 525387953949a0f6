import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { calls, DIALOGUE, record, result, says, user, writeRun } from "../../../test/support/export-records.ts";
import { canonicalJson, type JsonObject, type TrajectoryMessage } from "../../core/index.ts";
import { checkDialogue } from "../check-dialogue.ts";
import { withoutNulls } from "../read-rows.ts";
import { type Made, RowMaker, type RowOptions } from "../row-maker.ts";
import { rowText } from "../row-text.ts";
import {
  type DialogueMessage,
  INLINE_CLASH,
  parseArguments,
  type TrainingDialogue,
  toDialogue,
} from "../training-dialogue.ts";
import { unroll } from "../unroll.ts";
import { createParquetWriter } from "../write-parquet.ts";
import { mergeSides } from "./alternating.ts";
import { CUT_TAIL, type Format, MALFORMED, MERGED, TEXT_WITH_CALL, type Written } from "./format.ts";
import { FORMATS, findFormat } from "./index.ts";

const ODD = [
  "",
  " ",
  "\u0000",
  "\u2028\u2029\u0085",
  "\ud800",
  "a\udc00b",
  "👩‍👩‍👧",
  "\\u0041",
  '"\\n',
  "###",
  "العربية",
  "\ufeff",
  "\r\n\t",
];
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ maxLength: 30 }),
  fc.constantFrom(...ODD),
);
const said = fc.oneof(text, fc.constantFrom("Yes.", "Let me look.", "x".repeat(5000)));

const given = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }).map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constant(' {"id": 12345678901234567890,\n "price": 1.0, "price": 2e5} ') },
  { weight: 1, arbitrary: fc.constant(JSON.stringify({ huge: "y".repeat(200_000) })) },
);

const step = fc.record({
  content: fc.oneof({ weight: 3, arbitrary: fc.constant("") }, said),
  reasoning: fc.option(text),
  calls: fc.array(given, { minLength: 1, maxLength: 3 }),
  results: fc.array(text, { minLength: 3, maxLength: 3 }),
});
const turn = fc.record({
  user: said,
  steps: fc.array(step, { maxLength: 3 }),
  answer: said,
  reasoning: fc.option(text),
});

/** Any dialogue that the loop can leave behind: parallel calls, empty texts, halves of characters, a closing word. */
const anyMessages: fc.Arbitrary<TrajectoryMessage[]> = fc
  .record({ turns: fc.array(turn, { minLength: 1, maxLength: 3 }), closing: fc.option(said) })
  .map(({ turns, closing }) => {
    const messages: TrajectoryMessage[] = [];
    let number = 0;
    for (const { user: words, steps, answer, reasoning } of turns) {
      messages.push(user(words));
      for (const one of steps) {
        const made = calls(
          ...one.calls.map((args): [string, string, string] => [`call_${number++}`, "find_book", args]),
        );
        messages.push({
          ...made,
          content: one.content,
          ...(one.reasoning ? { reasoning_content: one.reasoning } : {}),
        } as never);
        for (const [index] of one.calls.entries())
          messages.push(result(`call_${number - one.calls.length + index}`, one.results[index] as string));
      }
      messages.push(says(answer, reasoning ?? undefined));
    }
    return closing === null ? messages : [...messages, user(closing)];
  });

const dialogues = [...FORMATS.values()].filter(({ oncePerQuery }) => !oncePerQuery);

/** A whole dialogue as one row, with what the row should hold. */
function write(
  format: Format,
  messages: TrajectoryMessage[],
  options: Partial<RowOptions> = {},
): { written: Written; dialogue: TrainingDialogue } {
  const made = record({ messages });
  const maker = new RowMaker({ format: format.name, unroll: "dialogue", ...options });
  const { rows, reason } = maker.write(made, { split: "train", index: 0 }, TRUTH) as never as MadeOrReason;
  const shape = { reasoning: maker.dropsReasoning ? "none" : "all", inline: false, loss: undefined } as const;
  const dialogue = toDialogue(made, shape) as TrainingDialogue;
  return { written: reason === undefined ? (rows[0] as Made) : { reason }, dialogue };
}

type MadeOrReason = { rows: Made[]; reason?: string };
const TRUTH = { from: "plan", calls: [{ name: "renew_loan", arguments: { id: 7 } }] };

/** What must come back, given what the format said it lost. */
function expected(dialogue: TrainingDialogue, notes: string[]): object {
  const { system, tools } = dialogue;
  let kept = notes.includes(CUT_TAIL) ? (unroll(dialogue, "dialogue")[0]?.dialogue.messages ?? []) : dialogue.messages;
  if (notes.includes(MERGED)) kept = mergeSides(kept);
  if (notes.includes(TEXT_WITH_CALL))
    kept = kept.map((message) =>
      message.role === "assistant" && message.calls.length > 0 ? { ...message, content: "" } : message,
    );
  return comparable({ system, tools, messages: kept });
}

/** Ids by their order, arguments by their value: what every format keeps. */
function comparable({ system, tools, messages }: TrainingDialogue): object {
  const ids = new Map<string, number>();
  const place = (id: string) => ids.get(id) ?? ids.set(id, ids.size).get(id);
  return {
    system,
    tools,
    messages: messages.map((message: DialogueMessage) => {
      if (message.role === "tool") return { role: "tool", content: message.content, id: place(message.callId) };
      if (message.role === "user") return message;
      const { calls: made, loss: _, ...rest } = message;
      return {
        ...rest,
        calls: made.map((call) => [place(call.id), call.name, argumentsIn(call.arguments)]),
      };
    }),
  };
}

function argumentsIn(given: string): string {
  const text = JSON.stringify(parseArguments(given) ?? null);
  return canonicalJson(JSON.parse(text.replace(/(?<!\\)\\u[dD][89a-fA-F]../g, "\ufffd")));
}

describe.each(dialogues.map((format) => [format.name, format] as const))("%s", (_name, format) => {
  test("a dialogue with parallel calls, an error and a closing word comes back the same", () => {
    const { written, dialogue } = write(format, DIALOGUE);
    if (!("row" in written)) throw new Error(written.reason);
    const reading = format.read(JSON.parse(rowText(written.row)) as JsonObject);
    expect(reading.problems).toEqual([]);
    expect(comparable(reading.dialogue)).toEqual(expected(dialogue, written.notes ?? []));
    expect(checkDialogue(reading.dialogue)).toEqual([]);
  });

  test("any valid trajectory survives, or is reported with the reason", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const { written, dialogue } = write(format, messages);
        if ("reason" in written) {
          expect(written.reason).toMatch(
            new RegExp(`${INLINE_CLASH}|media|mark that parts|left to learn|beyond 64 bits`),
          );
          return;
        }
        const text = rowText(written.row);
        expect(text).not.toMatch(/[\n\r\u0085\u2028\u2029]|(?<!\\)\\u[dD][89a-fA-F]/);
        const reading = format.read(JSON.parse(text) as JsonObject);
        expect(reading.problems).toEqual([]);
        expect(comparable(reading.dialogue)).toEqual(expected(dialogue, written.notes ?? []));
      }),
      { numRuns: 60 },
    );
  });

  test("arguments that are no JSON object are kept as text or reported", () => {
    const { written } = write(format, [
      user("Hi"),
      calls(["a", "find_book", '{"id": 7']),
      result("a", "{}"),
      says("Done."),
    ]);
    if ("reason" in written) expect(written.reason).toBe(MALFORMED);
    else expect(rowText(written.row)).toContain('{\\"id\\": 7');
  });

  test("a Parquet file holds the same rows", async () => {
    const options = { container: "parquet" as const };
    // the reader used in this test strips a byte order mark from the start of a text
    const samples = fc
      .sample(anyMessages, { numRuns: 20, seed: 7 })
      .filter((one) => !JSON.stringify(one).includes("\ufeff"));
    samples.push(DIALOGUE);
    const made = samples.map((messages) => write(format, messages, options)).filter(({ written }) => "row" in written);
    const folder = writeRun([]);
    const file = join(folder, "rows.parquet");
    const { columns } = new RowMaker({ format: format.name, unroll: "dialogue" });
    const writer = createParquetWriter(file, columns);
    for (const { written } of made) if ("row" in written) writer.write(written.row);
    writer.close();
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    expect(rows).toHaveLength(made.length);
    for (const [index, { written, dialogue }] of made.entries()) {
      const reading = format.read(withoutNulls(rows[index]) as JsonObject);
      expect(comparable(reading.dialogue)).toEqual(expected(dialogue, ("notes" in written && written.notes) || []));
    }
    rmSync(folder, { recursive: true });
  });
});

test("numbers in arguments keep the very text that the model wrote", () => {
  const raw = '{"id": 12345678901234567890, "price": 1.0}';
  for (const name of ["axolotl", "llamafactory", "llamafactory-openai", "ms-swift", "openai"]) {
    const { written } = write(findFormat(name), [
      user("Hi"),
      calls(["a", "find_book", raw]),
      result("a", "{}"),
      says("Done."),
    ]);
    const text = "row" in written ? rowText(written.row).replaceAll("\\", "") : "";
    expect(text, name).toContain('"id": 12345678901234567890, "price": 1.0');
  }
});

test("a number beyond 64 bits, which datasets cannot hold, leaves a trl row out, unless arguments are text", () => {
  const dialogue = (given: string) => [user("Hi"), calls(["a", "find_book", given]), result("a", "{}"), says("Done.")];
  const trl = findFormat("trl");
  for (const given of ['{"id": 9223372036854775808}', '{"id": -9223372036854775809}', '{"id": [1e400]}']) {
    expect(write(trl, dialogue(given)).written).toMatchObject({ reason: expect.stringContaining("beyond 64 bits") });
    expect(write(trl, dialogue(given), { arguments: "string" }).written).toHaveProperty("row");
  }
  const long = write(trl, dialogue('{"id": 0.12345678901}')).written;
  expect(long).toMatchObject({ notes: [expect.stringContaining("more than ten decimals")] });
  for (const given of ['{"id": 0.1234567890}', '{"id": "0.12345678901"}'])
    expect(write(trl, dialogue(given)).written).toMatchObject({ notes: [] });
  for (const given of ['{"id": -9223372036854775808}', '{"id": "99999999999999999999 1e400"}', '{"id": 1.0e-400}'])
    expect(write(trl, dialogue(given)).written).toHaveProperty("row");
});

test("openai leaves out empty lists, keeps arguments as text and ends with the agent", () => {
  const { written } = write(findFormat("openai"), DIALOGUE);
  const row = JSON.parse(rowText((written as { row: object }).row as never));
  expect(row.messages[0]).toEqual({ role: "system", content: "You work at a library desk." });
  expect(row.messages.at(-1).role).toBe("assistant");
  expect("tool_calls" in row.messages.at(-1)).toBe(false);
  expect(row.messages[2].tool_calls[0]).toEqual({
    id: "a",
    type: "function",
    function: { name: "find_book", arguments: '{"id": 7}' },
  });
  expect(row.parallel_tool_calls).toBe(true);
});

test("trl writes arguments as objects, or as text where asked", () => {
  const format = findFormat("trl");
  const row = (kind: "object" | "string") =>
    JSON.parse(rowText((write(format, DIALOGUE, { arguments: kind }).written as { row: object }).row as never));
  expect(row("object").messages[2].tool_calls[0].function.arguments).toEqual({ id: 7 });
  expect(row("object").messages[3]).toEqual({
    role: "tool",
    name: "find_book",
    content: '{"title":"Emma"}',
    tool_call_id: row("object").messages[2].tool_calls[0].id,
  });
  expect(row("object").messages[3].tool_call_id).toMatch(/^[A-Za-z0-9]{9}$/);
  expect(row("string").messages[2].tool_calls[0].function.arguments).toBe('{"id": 7}');
  expect(typeof row("string").tools).toBe("string");
});

test("llamafactory alternates strictly, with parallel calls and results in one turn each", () => {
  const { written } = write(findFormat("llamafactory"), DIALOGUE);
  const row = JSON.parse(rowText((written as { row: object }).row as never));
  expect(row.conversations.map(({ from }: { from: string }) => from)).toEqual([
    "human",
    "function_call",
    "observation",
    "gpt",
    "human",
    "function_call",
    "observation",
    "gpt",
  ]);
  expect(row.conversations[1].value).toBe(
    '<think>\nBoth at once.\n</think>\n\n[{"name": "find_book", "arguments": {"id": 7}}, {"name": "renew_loan", "arguments": {"id":7}}]',
  );
});

test("llamafactory reports text next to a call, a dialogue that the agent begins, and marks of media", () => {
  const format = findFormat("llamafactory");
  const beside = [
    user("Hi"),
    { ...calls(["a", "find_book", "{}"]), content: "One moment." } as TrajectoryMessage,
    result("a", "1"),
    says("Done."),
  ];
  expect(write(format, beside).written).toMatchObject({ notes: [TEXT_WITH_CALL] });
  expect(write(format, [says("Hello"), user("Hi"), says("Yes?")]).written).toMatchObject({
    reason: expect.stringContaining("begins with the agent"),
  });
  expect(write(format, [user("See <image>"), says("Yes?")]).written).toMatchObject({
    reason: expect.stringContaining("media"),
  });
  expect(write(format, [user("Hi"), user("There"), says("Yes?")]).written).toMatchObject({ notes: [MERGED] });
});

test("deepseek rows have exactly the five members in each message, null where absent", () => {
  const { written } = write(findFormat("deepseek"), DIALOGUE);
  const row = JSON.parse(rowText((written as { row: object }).row as never));
  expect(Object.keys(row)).toEqual(["id", "query_id", "messages", "data_source", "use_cot", "tools"]);
  for (const message of row.messages)
    expect(Object.keys(message).sort()).toEqual(["content", "reasoning_content", "role", "tool_call_id", "tool_calls"]);
  expect(row.messages[1]).toEqual({
    role: "user",
    content: "Please renew loan 7.",
    reasoning_content: null,
    tool_calls: null,
    tool_call_id: null,
  });
});

test("verl-rl gives the prompt of a query with what a reward needs", () => {
  const { written } = write(findFormat("verl-rl"), DIALOGUE);
  const row = JSON.parse(rowText((written as { row: object }).row as never));
  expect(row).toMatchObject({
    data_source: "agent",
    prompt: [{ role: "system" }, { role: "user", content: "Please renew loan 7." }],
    reward_model: { style: "rule" },
    extra_info: { split: "train", index: 0, need_tools_kwargs: true, interaction_kwargs: { query_id: "q1" } },
    agent_name: "tool_agent",
  });
  expect(JSON.parse(row.reward_model.ground_truth)).toEqual({
    dataset: "Desk",
    query_id: "q1",
    from: "plan",
    calls: [{ name: "renew_loan", arguments: { id: 7 } }],
  });
});

test("a result without its call, and a call without its result, are reported by every trainer's format", () => {
  const orphan = [user("Hi"), result("z", "1"), says("Done.")];
  const unanswered = [user("Hi"), calls(["a", "find_book", "{}"]), user("Well?"), says("Done.")];
  for (const name of ["openai", "trl", "axolotl", "llamafactory", "llamafactory-openai", "ms-swift", "verl-sft"]) {
    expect(write(findFormat(name), orphan).written, name).toEqual({ reason: "a tool result without its call" });
    expect(write(findFormat(name), unanswered).written, name).toEqual({ reason: "a call without its result" });
  }
});
