// Dialogues judged by hand: `test/corpus/*.yml`. Each is played through the real loop by two models that say what the
// file says, against the real tools of a bundled domain, and then scored like any run.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { resolveConfig } from "../../src/config/index.ts";
import {
  type Blame,
  fillPlaceholders,
  type JsonObject,
  type Mode,
  type ModelClient,
  type ModelReply,
  NO_USAGE,
  type PlayedCall,
  type Trajectory,
} from "../../src/core/index.ts";
import { BUNDLED_PATH } from "../../src/domains/index.ts";
import { makeRollouts } from "../../src/runner/index.ts";
import { recordKeyText } from "../../src/runs/index.ts";
import { TaskScores } from "../../src/scoring/index.ts";
import type { TaskScore } from "../../src/scoring/task-score.ts";
import type { CheckScore } from "../../src/scoring/task-scores.ts";

/** One line of a dialogue: what the agent calls, what it says, or what the user says. */
export type CaseLine = { call: string } | { agent: string } | { user: string };

export type CorpusCase = {
  id: string;
  domain: string;
  /** a bundled query's id */
  query: string;
  /** replaces parts of the query's task_info; null removes one */
  task_info?: JsonObject;
  /** replaces the query's opening message */
  opening?: string;
  mode?: Mode;
  /** which kind of right or wrong behaviour it is about */
  kind: string;
  /** the judgement, in words */
  why: string;
  verdict: "pass" | "fail" | "unscored";
  blame?: Blame;
  /** the checks that fail, or for a pass, that decide it */
  decided_by?: string[];
  dialogue: CaseLine[];
};

const FOLDER = new URL("../corpus/", import.meta.url).pathname;

export function readCorpus(folder = FOLDER): CorpusCase[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yml"))
    .sort()
    .flatMap((file) => readCases(join(folder, file)));
}

export function readCases(file: string): CorpusCase[] {
  const cases = parse(readFileSync(file, "utf8")) as (Omit<CorpusCase, "dialogue"> & { dialogue: string })[];
  return cases.map((one) => ({ ...one, dialogue: readDialogue(one.dialogue, `${basename(file)}: ${one.id}`) }));
}

/** `agent: …`, `user: …` or `call: tool {arguments}`; a line that begins otherwise continues the one before. */
function readDialogue(text: string, where: string): CaseLine[] {
  const lines: [string, string][] = [];
  for (const line of text.trimEnd().split("\n")) {
    const begun = /^(agent|user|call): ?(.*)$/.exec(line);
    const last = lines.at(-1);
    if (begun) lines.push([begun[1] as string, begun[2] as string]);
    else if (last) last[1] += `\n${line}`;
    else throw new Error(`${where}: the dialogue begins with "${line}"`);
  }
  return lines.map(([party, said]) => ({ [party]: said }) as CaseLine);
}

export type PlayedCase = { folder: string; trajectory: Trajectory };

/** Into a run folder of its own, which `remove` deletes. */
export async function playCase(
  one: CorpusCase,
  folder = mkdtempSync(join(tmpdir(), "rollout-corpus-")),
): Promise<PlayedCase & { remove(): void }> {
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const agent = one.dialogue.filter((line) => !("user" in line));
  const user = one.dialogue.flatMap((line) => ("user" in line ? [line.user] : []));
  const models: { [name: string]: ModelClient } = {
    "corpus/agent": speaker("corpus/agent", agent, one.id),
    "corpus/user": speaker(
      "corpus/user",
      user.map((text) => ({ user: text })),
      one.id,
    ),
  };
  const config = {
    datasets: [one.domain],
    query_dir: writeQuery(one, folder),
    agent_model: "corpus/agent",
    user_model: "corpus/user",
    mode: one.mode ?? "positive",
    sync: "never" as const,
    bundled: true,
    eval: true as const,
  };
  const run = resolveConfig(config, { folder: join(folder, "run"), patch: {} });
  const result = await makeRollouts(run, {
    createNetworkClient: ({ model }) => models[model] as ModelClient,
  });
  const [output] = Object.values(result.outputs);
  const text = readFileSync(output as string, "utf8").trim();
  if (text === "")
    throw new Error(`${one.id} did not finish: ${readFileSync(join(folder, "run", "failures.jsonl"), "utf8")}`);
  return { folder: join(folder, "run"), trajectory: JSON.parse(text) as Trajectory, remove };
}

/** Its task score, with the results of its checks. */
export function scoreOf({ folder, trajectory }: PlayedCase): TaskScore & { results: readonly CheckScore[] } {
  const scores = new TaskScores(folder);
  const key = recordKeyText(trajectory);
  return { ...scores.scoreOf(key, trajectory.metadata), results: scores.resultsOf(key) };
}

function writeQuery(one: CorpusCase, folder: string): string {
  const lines = readFileSync(join(BUNDLED_PATH, "queries", `${one.domain}.jsonl`), "utf8")
    .trim()
    .split("\n");
  const query = lines.map((line) => JSON.parse(line) as JsonObject).find(({ id }) => id === one.query);
  if (!query) throw new Error(`${one.id}: ${one.domain} has no query ${one.query}`);
  const info = { ...(query.task_info as JsonObject), ...one.task_info };
  for (const [key, value] of Object.entries(info)) if (value === null) delete info[key];
  const messages = one.opening ? [{ role: "user", content: one.opening }] : query.messages;
  const queries = join(folder, "queries");
  mkdirSync(queries, { recursive: true });
  writeFileSync(join(queries, `${one.domain}.jsonl`), `${JSON.stringify({ ...query, messages, task_info: info })}\n`);
  return queries;
}

/** Says its lines in order; `{{tool.path}}` in them stands for a value of an earlier result. */
function speaker(id: string, lines: CaseLine[], name: string): ModelClient {
  return {
    id,
    complete: async ({ messages, origin }) => {
      const line = lines[origin.position];
      if (line === undefined) throw new Error(`${name}: line ${origin.position + 1} of ${id} is missing`);
      const played = messages.flatMap((message): PlayedCall[] =>
        message.role === "tool" ? [{ name: message.name, content: message.content }] : [],
      );
      return toReply(line, played, origin.position);
    },
  };
}

function toReply(line: CaseLine, played: PlayedCall[], position: number): ModelReply {
  if (!("call" in line)) {
    const content = fillPlaceholders("agent" in line ? line.agent : line.user, played);
    return { content, toolCalls: [], usage: NO_USAGE, finish: "stop" };
  }
  const space = line.call.indexOf(" ");
  const tool = space === -1 ? line.call : line.call.slice(0, space);
  const args = fillPlaceholders(space === -1 ? "{}" : line.call.slice(space + 1), played);
  return {
    content: "",
    toolCalls: [{ id: `call_${position}`, name: tool, arguments: args }],
    usage: NO_USAGE,
    finish: "tool-calls",
  };
}
