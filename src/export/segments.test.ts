import { expect, test } from "vitest";
import { calls, record as makeRecord, result, says, user } from "../../test/support/export-records.ts";
import { joinSummary, type TrajectoryMessage } from "../core/index.ts";
import { RowMaker, type RowOptions } from "./row-maker.ts";
import { splitAtSummaries } from "./segments.ts";

const MESSAGES: TrajectoryMessage[] = [
  user("Renew loan 7 and 8."),
  calls(["a", "renew_loan", '{"id":7}']),
  result("a", '{"success":true}'),
  calls(["b", "renew_loan", '{"id":8}']),
  result("b", '{"error":"There is no loan 8."}'),
  says("Loan 7 is renewed; there is no loan 8."),
];

function record(summaries: unknown, messages = MESSAGES) {
  return makeRecord({ id: "q1", query_id: "q1", messages, summaries });
}

function write(options: RowOptions, summaries: unknown = [{ after: 3, content: "7 is done." }]) {
  const made = new RowMaker(options).write(record(summaries), { split: "train", index: 0 });
  return "rows" in made ? made.rows.map(({ row }) => row as { id: string; messages: { content: string }[] }) : made;
}

test("each stretch is a row of its own, which begins as the agent saw it", () => {
  const [first, second] = splitAtSummaries(record([{ after: 3, content: "7 is done." }]));
  expect([first?.mark, second?.mark]).toEqual(["/1", "/2"]);
  expect(first?.record.messages).toEqual(MESSAGES.slice(0, 3));
  expect(second?.record.messages).toEqual([
    user(joinSummary("Renew loan 7 and 8.", "7 is done.")),
    ...MESSAGES.slice(3),
  ]);
  const rows = write({ format: "openai" });
  expect(rows).toMatchObject([{ id: "q1/1" }, { id: "q1/2" }]);
});

test("the last of two summaries stands for all before it, with what was asked last", () => {
  const more = [...MESSAGES, user("And 9?"), calls(["c", "renew_loan", '{"id":9}']), result("c", "{}"), says("Yes.")];
  const summaries = [
    { after: 3, content: "7 is done." },
    { after: 9, content: "9 too." },
  ];
  const segments = splitAtSummaries(record(summaries, more));
  expect(segments.map(({ record: { messages } }) => messages[0]?.content)).toEqual([
    "Renew loan 7 and 8.",
    joinSummary("Renew loan 7 and 8.", "7 is done."),
    joinSummary("And 9?", "9 too."),
  ]);
});

test("canonical rows keep the record whole, with its summaries", () => {
  expect(write({ format: "jsonl" })).toMatchObject([{ id: "q1", summaries: [{ after: 3 }] }]);
});

test("nothing is learnt after an error, in this stretch or the next", () => {
  const rows = write({ format: "openai", loss: "until-error" }, [{ after: 5, content: "Only 7." }]);
  expect(rows).toMatchObject([{ id: "q1/1" }]);
});

test("a dialogue of several contexts is in no pair", () => {
  const maker = new RowMaker({ format: "trl", pairs: "preference" });
  expect(maker.candidate(record([{ after: 3, content: "7 is done." }]))).toMatch(/summarised/);
});

test.each([[undefined], ["text"], [[{ after: 99, content: "x" }]], [[{ after: 0, content: "x" }]], [[null]]])(
  "what cannot be a summary is none: %j",
  (summaries) => {
    expect(splitAtSummaries(record(summaries))).toMatchObject([{ mark: "" }]);
  },
);
