// Plain question sets: one agent answers each question in a single turn, several times, with tools of MCP servers if there
// are any. Records hold the fields that such sets have beside our own.
import { basename, extname } from "node:path";
import type { Json, Outcome, Query, TrajectoryMessage } from "../core/index.ts";
import { finalAnswer } from "../scoring/index.ts";
import { type ConfigOrigin, type Overrides, type ResolvedRun, resolveConfig } from "./config/resolve.ts";
import type { Config } from "./config/schema.ts";

export type QuestionSet = {
  /** JSONL: `id`, `query` or `question`, and `answer` where it is known */
  input: string;
  /** a file that holds mcpServers */
  mcpFile?: string | undefined;
  config?: Omit<Config, "datasets">;
};

export function resolveQuestions(
  { input, mcpFile, config = {} }: QuestionSet,
  origin: ConfigOrigin,
  overrides: Overrides,
): ResolvedRun {
  const name = basename(input, extname(input));
  const tools = mcpFile ? { mcp_config_file: mcpFile } : { mcpServers: {} };
  const dataset = { path: input, max_turns: 1, ...tools };
  const resolved = resolveConfig({ ...config, datasets: { [name]: dataset } }, origin, overrides);
  const datasets = resolved.run.datasets.map(({ mcpServers, ...spec }) => ({
    ...spec,
    rounds: true as const,
    ...(mcpServers && Object.keys(mcpServers).length > 0 ? { mcpServers } : {}),
  }));
  return { ...resolved, run: { ...resolved.run, datasets } };
}

export type QuestionFields = {
  question: string;
  answer: Json;
  rollout_id: number;
  prediction: string;
  /** "answer", or how else it ended */
  termination: string;
};

export function questionFields(
  query: Query,
  messages: readonly TrajectoryMessage[],
  outcome: Outcome,
  rollout: number,
): QuestionFields {
  const last = messages.findLast((message) => message.role === "assistant" && !message.tool_calls?.length);
  return {
    question: query.messages.findLast((message) => message.role === "user")?.content ?? "",
    answer: (query.taskInfo.answer ?? null) as Json,
    rollout_id: rollout,
    prediction: finalAnswer(last?.content ?? ""),
    termination: outcome.stopReason === "agent_done" ? "answer" : outcome.stopReason,
  };
}
