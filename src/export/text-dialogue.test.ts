import { describe, expect, test } from "vitest";
import { calls, DIALOGUE, record, result, says, user } from "../../test/support/export-records.ts";
import { type JsonObject, UsageError } from "../core/index.ts";
import { TEXT_FORMATS } from "../models/tool-format/formats.ts";
import { checkDialogue } from "./check-dialogue.ts";
import { FORMATS } from "./formats/index.ts";
import { plainRows } from "./pair-rows.ts";
import { makePairs } from "./pairs.ts";
import { type Made, RowMaker, type RowOptions } from "./row-maker.ts";
import { rowText } from "./row-text.ts";
import { type DialogueMessage, splitThinking } from "./training-dialogue.ts";
import { learntOf, UNROLL_MODES } from "./unroll.ts";

const NAMES = ["hermes", "react"] as const;
const dialogues = [...FORMATS.values()].filter(({ oncePerQuery }) => !oncePerQuery);

function rowsOf(options: RowOptions, messages = DIALOGUE): JsonObject[] {
  const made = new RowMaker(options).write(record({ messages, score: 1 }), { split: "train", index: 0 });
  if ("reason" in made) throw new Error(made.reason);
  return made.rows.map(({ row }: Made) => JSON.parse(rowText(row)) as JsonObject);
}

/** What a trainer learns of the rows: each message's calls, words and reasoning. */
function learntIn(
  options: RowOptions,
  read: (text: string) => { content: string; calls: object[]; reasoning?: string },
) {
  const format = FORMATS.get(options.format) as (typeof dialogues)[number];
  return rowsOf(options).map((row) => {
    const { dialogue, problems } = format.read(row);
    expect(problems).toEqual([]);
    expect(checkDialogue(dialogue).filter(({ level }) => level === "error")).toEqual([]);
    return learntOf(dialogue.messages).map((message) => {
      const { content, calls: made, reasoning } = read(message.content);
      const own = message.calls.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) }));
      const others = made.map((call) => ({
        ...call,
        arguments: JSON.parse((call as { arguments: string }).arguments),
      }));
      return { content, calls: [...own, ...others], reasoning: message.reasoning ?? reasoning };
    });
  });
}

const isTurnRefused = (format: (typeof dialogues)[number], unroll: string) =>
  format.refuses?.[unroll as "turn"] !== undefined || (unroll === "turn" && format.learnsBehindUser);

describe.each(NAMES)("rows in %s", (toolFormat) => {
  const read = (text: string) => {
    const { content, calls: made, reasoning } = TEXT_FORMATS[toolFormat].read(text, []);
    return { content, calls: made.map(({ name, arguments: given }) => ({ name, arguments: given })), reasoning };
  };

  test.each(dialogues)("$name: the agent's messages are learnt, as natively, and nothing else", (format) => {
    for (const unroll of UNROLL_MODES) {
      if (isTurnRefused(format, unroll)) continue;
      const native = learntIn({ format: format.name, unroll }, (content) => ({ content, calls: [] }));
      // without flags, the last user message decides: that is the last result here, so exactly the reply is learnt
      const expected = format.learnsBehindUser ? native.map((messages) => messages.slice(-1)) : native;
      expect(learntIn({ format: format.name, unroll, toolFormat }, read)).toEqual(expected);
    }
  });

  test.each(dialogues)("$name: a row has neither calls nor tools, and says so in its system prompt", (format) => {
    for (const row of rowsOf({ format: format.name, toolFormat })) {
      const { dialogue } = format.read(row);
      expect(dialogue.tools).toEqual([]);
      expect(
        dialogue.messages.some(
          (message) => message.role === "tool" || (message.role === "assistant" && message.calls.length > 0),
        ),
      ).toBe(false);
      expect(TEXT_FORMATS[toolFormat].readTools(dialogue.system ?? "")).toMatchObject({
        system: "You work at a library desk.",
        tools: [{ name: "find_book" }, { name: "renew_loan" }],
      });
    }
  });

  test("of a pair, both ends and what is before them are text", () => {
    const other = [...DIALOGUE.slice(0, 1), calls(["x", "find_book", '{"id": 9}']), result("x", "{}"), says("No.")];
    const maker = new RowMaker({ format: "trl", pairs: "preference", toolFormat });
    const candidates = [record({ score: 1 }), record({ id: "q1#1", rollout: 1, messages: other, score: 0 })].map(
      (one) => {
        const dialogue = maker.candidate(one);
        if (typeof dialogue === "string") throw new Error(dialogue);
        return { record: one, dialogue };
      },
    );
    const rows: JsonObject[] = [];
    makePairs(candidates, (pair) => {
      const made = maker.writePair(pair, { split: "train", index: 0 });
      if ("row" in made) rows.push(JSON.parse(rowText(made.row)) as JsonObject);
      return undefined;
    });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/tool_calls|"role":"tool"/);
    const [better, worse] = [rows[0]?.chosen, rows[0]?.rejected].map((end) =>
      read((end as { content: string }[])[0]?.content ?? ""),
    );
    expect(better?.calls).toEqual([
      { name: "find_book", arguments: '{"id": 7}' },
      { name: "renew_loan", arguments: '{"id":7}' },
    ]);
    expect(worse?.calls).toEqual([{ name: "find_book", arguments: '{"id": 9}' }]);
    const judged = rowsOf({ format: "trl", pairs: "kto", toolFormat });
    expect(judged).toHaveLength(4);
    for (const row of judged.flatMap(plainRows)) expect(JSON.stringify(row)).not.toMatch(/tool_calls|"role":"tool"/);
  });

  test("malformed arguments stay what the model wrote", () => {
    const broken = [
      user("Hi."),
      calls(["a", "find_book", '{"id": 7']),
      result("a", '{"error":"no JSON"}'),
      says("Sorry."),
    ];
    const [row] = rowsOf({ format: "axolotl", unroll: "dialogue", toolFormat }, broken);
    const agents = (row as unknown as { messages: DialogueMessage[] }).messages.filter(
      ({ role }) => role === "assistant",
    );
    expect(read(splitThinking(agents[0]?.content ?? "").content).calls).toEqual([
      { name: "find_book", arguments: '{"id": 7' },
    ]);
  });

  test("what cannot be right is refused", () => {
    expect(() => new RowMaker({ format: "verl-rl", toolFormat })).toThrow(UsageError);
    expect(() => new RowMaker({ format: "deepseek", unroll: "turn", toolFormat })).toThrow(UsageError);
    expect(new RowMaker({ format: "deepseek", toolFormat }).unroll).toBe("step");
  });
});
