// A key is planted in every place that can hold one, the server repeats it in each of its errors, and every place where
// text leaves the program is searched for it: raw, URL-encoded and in base64.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createScriptFinder } from "../src/domains/index.ts";
import { startMockServer } from "../src/models/index.ts";
import { workFolder } from "./support/cli.ts";

const KEYS = {
  literal: "sk-lit/eral+key=41&a",
  variable: "sk-vari/able+key=42&b",
  header: "sk-head/er+key=43&c",
  password: "pass-word-in-url-44",
};

test("the search finds a key in each of its forms", () => {
  const key = KEYS.literal;
  const inside = (before: string) => Buffer.from(`${before}${key}: more`).toString("base64");
  for (const text of [key, encodeURIComponent(key), inside(""), inside("B"), inside("Be"), inside("Bearer ")])
    expect(keysIn(`some ${text} text`)).toEqual(["literal"]);
  expect(keysIn("some [redacted] text, and c2tzb21ldGhpbmdlbHNlCg==")).toEqual([]);
});

test("no key reaches the run folder, the log, the terminal or the cassettes, though the server repeats it in its errors", async () => {
  // tries that pass, tries that fail a rollout, an error that becomes part of a record
  const faults = "500@1,429@3,overflow@5,always500@9";
  const server = await startMockServer({ findScript: createScriptFinder().find, faults, echoKeys: true });
  const folder = workFolder();
  const entry = (key: string) =>
    `{provider: openai, api_base: "${server.url.replace("://", `://me:${KEYS.password}@`)}", api_key: "${key}", headers: {X-Api-Key: "${KEYS.header}"}}`;
  folder.write(
    "given/run.yml",
    `output_dir: run
log_file: run/log/rollout.log
log_level: DEBUG
limit: 3
max_workers: 1
models:
  scripted-agent: ${entry(KEYS.literal)}
  scripted-user: ${entry(`\${PLANTED_KEY}`)}
datasets:
  StudentFinancialServices:
    agent: {model: openai/scripted-agent, max_retries: 1}
    user: {model: openai/scripted-user, max_retries: 1}
`,
  );
  try {
    const env = { PLANTED_KEY: KEYS.variable };
    const args = ["run", "--config", "given/run.yml", "--bundled", "--record", "tapes"];
    const quiet = await folder.run(args, { env });
    const verbose = await folder.run([...args, "--verbose"], { env });
    expect([quiet.code, verbose.code], quiet.stderr).toEqual([3, 3]);
    expect(server.requests().faults).toMatchObject({ "500": 1, "429": 1, overflow: 1 });
    expect(folder.read("run/failures.jsonl")).toContain("[redacted]");
    expect(folder.read("run/trajectories/StudentFinancialServices.jsonl")).toContain("[redacted]");
    expect(folder.read("run/log/rollout.log")).toContain("[redacted]");
    for (const { stdout, stderr } of [quiet, verbose]) expect(keysIn(stdout + stderr)).toEqual([]);
    const files = filesUnder(folder.path).filter((file) => !file.includes("given"));
    expect(files.length).toBeGreaterThan(6);
    for (const file of files) expect([file, keysIn(readFileSync(file, "utf8"))]).toEqual([file, []]);
  } finally {
    await server.close();
  }
});

/** The planted keys that a text holds in any form, by name. */
function keysIn(text: string): string[] {
  const decoded = (text.match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), "base64").toString("latin1")),
  );
  const all = [text, ...decoded].join("\n");
  return Object.entries(KEYS)
    .filter(([, key]) => all.includes(key) || all.includes(encodeURIComponent(key)))
    .map(([name]) => name);
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
