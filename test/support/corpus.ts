// Dialogues judged by hand: `test/corpus/*.yml`. They are played through the real loop by two models that say what the
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
type CaseLine = { call: string } | { agent: string } | { user: string };

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
  /** the checks that fail; for a pass, those that decide it */
  decided_by?: string[];
  dialogue: CaseLine[];
};

export type PlayedCase = {
  judged: CorpusCase;
  trajectory: Trajectory;
  score: TaskScore;
  results: readonly CheckScore[];
};

const FOLDER = new URL("../corpus/", import.meta.url).pathname;

export function readCorpus(): CorpusCase[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yml"));
  return files.sort().flatMap((file) => readCases(join(FOLDER, file)));
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

/** Each domain and mode is one run; what a verdict calls "pass" is a score that passes. */
export async function playCases(cases: readonly CorpusCase[]): Promise<PlayedCase[]> {
  const groups = new Map<string, CorpusCase[]>();
  for (const one of cases) {
    const key = `${one.domain} ${one.mode ?? "positive"}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const played: PlayedCase[] = [];
  for (const group of groups.values()) played.push(...(await playGroup(group)));
  return played;
}

export function verdictOf({ pass }: TaskScore): CorpusCase["verdict"] {
  return pass === null ? "unscored" : pass ? "pass" : "fail";
}

async function playGroup(cases: CorpusCase[]): Promise<PlayedCase[]> {
  const folder = mkdtempSync(join(tmpdir(), "rollout-corpus-"));
  const [{ domain, mode = "positive" }] = cases as [CorpusCase];
  const byId = new Map(cases.map((one) => [one.id, one]));
  if (byId.size < cases.length) throw new Error(`two cases of ${domain} have the same id`);
  const models: { [name: string]: ModelClient } = {
    "corpus/agent": createSpeaker("corpus/agent", byId, (line) => !("user" in line)),
    "corpus/user": createSpeaker("corpus/user", byId, (line) => "user" in line),
  };
  try {
    const run = resolveConfig(
      {
        datasets: [domain],
        query_dir: writeQueries(cases, domain, folder),
        agent_model: "corpus/agent",
        user_model: "corpus/user",
        mode,
        sync: "never",
        bundled: true,
        eval: true,
      },
      { folder: join(folder, "run"), patch: {} },
    );
    const { outputs } = await makeRollouts(run, { createNetworkClient: ({ model }) => models[model] as ModelClient });
    const scores = new TaskScores(join(folder, "run"));
    const lines = readFileSync(Object.values(outputs)[0] as string, "utf8")
      .trim()
      .split("\n");
    return lines.map((line) => {
      const trajectory = JSON.parse(line) as Trajectory;
      const key = recordKeyText(trajectory);
      const score = scores.scoreOf(key, trajectory.metadata);
      return { judged: byId.get(trajectory.query_id) as CorpusCase, trajectory, score, results: scores.resultsOf(key) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeQueries(cases: CorpusCase[], domain: string, folder: string): string {
  const lines = readFileSync(join(BUNDLED_PATH, "queries", `${domain}.jsonl`), "utf8")
    .trim()
    .split("\n");
  const queries = new Map(lines.map((line) => JSON.parse(line) as JsonObject).map((query) => [query.id, query]));
  const changed = cases.map((one) => {
    const query = queries.get(one.query);
    if (!query) throw new Error(`${one.id}: ${domain} has no query ${one.query}`);
    const info = { ...(query.task_info as JsonObject), ...one.task_info };
    for (const [key, value] of Object.entries(info)) if (value === null) delete info[key];
    const messages = one.opening ? [{ role: "user", content: one.opening }] : query.messages;
    return JSON.stringify({ ...query, id: one.id, messages, task_info: info });
  });
  mkdirSync(join(folder, "queries"));
  writeFileSync(join(folder, "queries", `${domain}.jsonl`), `${changed.join("\n")}\n`);
  return join(folder, "queries");
}

/** Says its lines of the case in order; `{{tool.path}}` in them stands for a value of an earlier result. */
function createSpeaker(
  id: string,
  cases: ReadonlyMap<string, CorpusCase>,
  isOwn: (line: CaseLine) => boolean,
): ModelClient {
  return {
    id,
    complete: async ({ messages, origin }) => {
      const line = cases.get(origin.queryId)?.dialogue.filter(isOwn)[origin.position];
      if (line === undefined) throw new Error(`${origin.queryId}: line ${origin.position + 1} of ${id} is missing`);
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
