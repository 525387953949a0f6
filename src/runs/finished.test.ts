import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { jsonLine } from "../files/index.ts";
import { type FinishedRecord, keyText, scanFinished } from "./finished.ts";
import { summarise } from "./summary.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-finished-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "trajectories.jsonl");

type Texts = { id?: string; dataset?: string; content?: string; fingerprint?: string; message?: string };

function trajectory({ id = "q", dataset = "Clinic", content = "Hi", fingerprint = "f", message }: Texts = {}) {
  return {
    id,
    query_id: id,
    rollout: 2,
    dataset,
    domains: [dataset],
    success: true,
    messages: [
      { role: "user", content },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c", type: "function", function: { name: "t", arguments: JSON.stringify({ a: content }) } }],
      },
      { role: "tool", content: JSON.stringify({ fingerprint: "no", success: false, metadata: { x: content } }) },
    ],
    metadata: {
      total_turns: 3,
      stop_reason: "user_stop",
      ...(message === undefined ? {} : { message }),
      tool_call_count: 1,
      tool_error_count: 0,
      usage: { agent: { input_tokens: 10, output_tokens: 2 }, user: { input_tokens: 5, output_tokens: 1 } },
      cost_usd: 0.5,
      scripted: true,
      fingerprint,
      faults: [],
      timings: { duration_ms: 7 },
    },
  };
}

function scan(text: string): FinishedRecord[] {
  writeFileSync(file, text);
  const records: FinishedRecord[] = [];
  scanFinished(file, "Given", (record) => records.push(record));
  return records;
}

describe("finished rollouts", () => {
  test("are known by key and fingerprint, whatever stands in their ids and texts", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom('"fingerprint":"x"', ',"success":true,', '"metadata":{', ',"success":', "\\", '"', "#1", "~2"),
    );
    fc.assert(
      fc.property(text, text, text, text, (id, dataset, content, message) => {
        const record = trajectory({ id, dataset, content, message, fingerprint: "0123456789abcdef" });
        const read = JSON.parse(JSON.stringify(record));
        expect(scan(jsonLine(record))).toEqual([
          { dataset: read.dataset, queryId: read.id, rollout: 2, fingerprint: "0123456789abcdef" },
        ]);
        expect(summarise(file)).toMatchObject({ rollouts: 1, success: 1, turns: 3, stop_reasons: { user_stop: 1 } });
      }),
    );
  });

  test("are known too where the file was written anew by another program", () => {
    const record = trajectory({ fingerprint: "abc" });
    const sorted = Object.fromEntries(Object.entries(record).sort());
    const spaced = JSON.stringify(record, null, 1).replace(/\n\s*/g, " ");
    const expected = { dataset: "Clinic", queryId: "q", rollout: 2, fingerprint: "abc" };
    expect(scan(`${jsonLine(sorted)}${spaced}\n`)).toEqual([expected, expected]);
  });

  test("of the older, plainer shape are the first rollouts of their queries", () => {
    expect(scan('{"id":"q7","success":true,"messages":[]}\n')).toEqual([
      { dataset: "Given", queryId: "q7", rollout: 0, fingerprint: "" },
    ]);
  });

  test("are only those of whole lines that are records", () => {
    const whole = jsonLine(trajectory({ id: "a" }));
    expect(scan(`${whole}\nnull\n[]\n{"x":1}\nnonsense\n${whole.slice(0, -1)}`).map(({ queryId }) => queryId)).toEqual([
      "a",
    ]);
    writeFileSync(file, `${whole}torn`);
    expect(scanFinished(file, "", () => {})).toBe(Buffer.byteLength(whole));
    expect(scanFinished(join(folder, "nowhere"), "", () => {})).toBe(0);
  });
});

test("a summary adds up the records of a file", () => {
  writeFileSync(file, jsonLine(trajectory()).repeat(3));
  expect(summarise(file)).toMatchObject({
    rollouts: 3,
    success: 3,
    stop_reasons: { user_stop: 3 },
    turns: 9,
    tool_calls: 3,
    tool_errors: 0,
    input_tokens: 45,
    output_tokens: 9,
    cost_usd: 1.5,
    duration_ms: 21,
    scripted: 3,
  });
});

test("a summary of a file that holds something else names the line", () => {
  writeFileSync(file, `${jsonLine(trajectory())}{}\n`);
  expect(() => summarise(file)).toThrow(`${file}:2: this line is not a trajectory`);
});

test("keys are told apart by each of their parts", () => {
  const keys = [
    { dataset: "a", queryId: "b", rollout: 0 },
    { dataset: "a", queryId: "b", rollout: 1 },
    { dataset: "ab", queryId: "", rollout: 0 },
    { dataset: "a,b", queryId: "b", rollout: 0 },
    { dataset: "a", queryId: "b#1", rollout: 0 },
  ];
  expect(new Set(keys.map(keyText)).size).toBe(keys.length);
});
