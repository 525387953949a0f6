import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportDataset } from "./export-dataset.ts";
import { labelRecords } from "./label.ts";

const ARGUMENTS = '{"id":12345678901234567890,"share":1.0,"zero":-0,"huge":1e400}';
const PARAMETERS = '{"type":"object","properties":{"id":{"minimum":-9223372036854775808,"multipleOf":1.0}}}';
const TOOLS = `[{"type":"function","function":{"name":"pay","description":"","parameters":${PARAMETERS},"strict":true}}]`;

function foreignLine(more = "", args = ARGUMENTS, first = '{"role":"user","content":"Pay."}'): string {
  const call = `{"id":"c1","type":"function","function":{"name":"pay","arguments":${args}}}`;
  const messages = `${first},{"role":"assistant","content":"","tool_calls":[${call}]},{"role":"tool","tool_call_id":"c1","content":"{}"},{"role":"assistant","content":"Paid."}`;
  return `{"id":"q1","messages":[${messages}]${more}}`;
}

function write(name: string, ...lines: string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), "rollout-foreign-")), name);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

async function exported(file: string, format = "openai") {
  const out = join(mkdtempSync(join(tmpdir(), "rollout-out-")), "rows.jsonl");
  const { counts } = await exportDataset({ inputs: [file], format, out });
  return { counts, text: readFileSync(out, "utf8") };
}

describe("foreign records", () => {
  test("keep the numbers of arguments and tools that are values, and scores are numbers as ever", async () => {
    const file = write(
      "Till.jsonl",
      foreignLine(`,"tools":${TOOLS},"score":1.0,"rollout":2,"metadata":{"cost_usd":1e-05}`),
    );
    const { text } = await exported(file);
    expect(text).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
    expect(text).toContain(`"tools":${TOOLS}`);
    const [row] = (await exported(file, "jsonl")).text.split("\n");
    expect(row).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
    expect(JSON.parse(row as string)).toMatchObject({ score: 1, rollout: 2, metadata: { cost_usd: 0.00001 } });
  });

  test("keep them where tools, or only their parameters, are JSON texts", async () => {
    const inText = JSON.stringify(TOOLS);
    const inPart = TOOLS.replace(PARAMETERS, JSON.stringify(PARAMETERS));
    for (const tools of [inText, inPart]) {
      const { text } = await exported(write("Till.jsonl", foreignLine(`,"tools":${tools}`, JSON.stringify(ARGUMENTS))));
      expect(text).toContain(`"tools":${TOOLS}`);
      expect(text).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
    }
  });

  test("keep them when they are labelled, with the tools of a dataset folder or their own", async () => {
    const base = mkdtempSync(join(tmpdir(), "rollout-base-"));
    for (const folder of ["tool_lists", "mcp_servers", "queries"]) mkdirSync(join(base, folder));
    writeFileSync(join(base, "tool_lists", "Till.json"), `\ufeff${TOOLS}`);
    writeFileSync(join(base, "mcp_servers", "Till.py"), "");
    const { file } = await labelRecords({ input: write("Till.jsonl", foreignLine()), basePath: base });
    const again = await labelRecords({ input: file, out: `${file}.again.jsonl` });
    for (const labelled of [file, again.file]) {
      const text = readFileSync(labelled, "utf8");
      expect(text).toContain(`"tools":${TOOLS}`);
      expect(text).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
    }
  });

  test("a half of a character is repaired without touching the numbers next to it", async () => {
    const args = '{"id":1234567890123456789,"half":"\\ud83d","whole":"\\ud83d\\ude00"}';
    const { text } = await exported(write("Till.jsonl", foreignLine("", JSON.stringify(args))), "trl");
    expect(text).toContain('"arguments":{"id":1234567890123456789,"half":"\ufffd","whole":"\\ud83d\\ude00"}');
  });

  test("a developer's message is the system prompt; one in the middle leaves the record out", async () => {
    const prompt = (role: string) => `{"role":"${role}","content":"Be kind."}`;
    const opening = '{"role":"user","content":"Pay."}';
    const { counts, text } = await exported(
      write(
        "Till.jsonl",
        foreignLine("", ARGUMENTS, `${prompt("developer")},${opening}`),
        foreignLine("", ARGUMENTS, `${opening},${prompt("system")}`),
        foreignLine("", ARGUMENTS, `${opening},${prompt("developer")}`),
      ),
      "openai",
    );
    expect(JSON.parse(text).messages[0]).toEqual({ role: "system", content: "Be kind." });
    expect(counts).toMatchObject({ in: 3, out: 1, left_out: { "message 2: a system message in the middle": 2 } });
  });
});
