// One endpoint of one model as a probe sees it: short requests, each answer with what the server really wrote, and
// everything found so far.
import {
  type ChatMessage,
  type Clock,
  isObject,
  type ModelReply,
  type ModelRequest,
  type RequestOrigin,
  type ToolCall,
  type ToolSpec,
  type Variables,
} from "../../core/index.ts";
import { findDialect } from "../dialects/index.ts";
import { ModelFailure } from "../failure.ts";
import { fillBodies } from "../fill-bodies.ts";
import { createDispatchers } from "../http.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { tap } from "./tap.ts";

/** `bad` makes the model unusable for its role; `odd` is worth knowing. */
export type Finding = { level: "ok" | "odd" | "bad"; text: string; fix?: Fix };

/** One line of YAML, and where it belongs. */
export type Fix = { where: "agent" | "user" | "models" | "config"; yaml: string };

export type Answer = { reply: ModelReply; message: Record<string, unknown>; usage: unknown };

export type EndpointProbe = {
  model: ResolvedModel;
  role: "agent" | "user";
  findings: Finding[];
  /** The answer or the failure: never throws for what the endpoint does. */
  ask(request: Partial<ModelRequest>, changes?: AskChanges): Promise<Answer | ModelFailure>;
  close(): Promise<void>;
};

export type AskChanges = { settings?: CallSettings; reasoning?: Partial<ResolvedModel["reasoning"]> };

export type ProbeDeps = { env: Variables; clock: Clock; signal: AbortSignal };

const TIMEOUT_SECONDS = 120;

/** `model` has one base URL. */
export function openProbe(model: ResolvedModel, role: "agent" | "user", deps: ProbeDeps): EndpointProbe {
  const line = tap(createDispatchers(deps.env));
  const clientOf = ({ settings = {}, reasoning = {} }: AskChanges) => {
    const changed = { ...model, reasoning: { ...model.reasoning, ...reasoning } };
    const timed = { timeoutSeconds: TIMEOUT_SECONDS, ...settings };
    const filled = fillBodies(changed, timed, deps.env);
    const more = { ...deps, dispatchers: line.dispatchers };
    return findDialect(model.dialect).createClient(filled.model, filled.settings, more);
  };
  let position = 0;
  return {
    model,
    role,
    findings: [],
    async ask(request, changes = {}) {
      const origin = originOf(role, position++);
      const whole = { system: "You are a helpful assistant.", messages: [], tools: [], toolChoice: "auto" as const };
      try {
        const reply = await clientOf(changes).complete({ ...whole, origin, ...request }, deps.signal);
        return { reply, ...readWritten(line.last()) };
      } catch (error) {
        if (error instanceof ModelFailure) return error;
        throw error;
      }
    },
    close: () => line.dispatchers.close(),
  };
}

export const WEATHER: ToolSpec = {
  name: "get_weather",
  description: "The weather in a city, as of now.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "name of the city" } },
    required: ["city"],
  },
  readOnly: true,
};

/** The dialogue after a reply's calls were answered. */
export function withResults(
  question: ChatMessage,
  { reply, calls }: { reply: ModelReply; calls: ToolCall[] },
): ChatMessage[] {
  const unique = calls.map((call, index) => ({ ...call, id: `doctor_${index}` }));
  const { content, reasoning, opaque } = reply;
  return [
    question,
    { role: "assistant", content, toolCalls: unique, reasoning, opaque },
    ...unique.map(({ id, name }): ChatMessage => {
      return { role: "tool", callId: id, name, content: '{"sky":"clear","celsius":18}', isError: false };
    }),
  ];
}

function originOf(party: RequestOrigin["party"], position: number): RequestOrigin {
  return { dataset: "doctor", queryId: "doctor", rollout: 0, seed: 1, mode: "positive", party, position };
}

function readWritten(body: Record<string, unknown>): Pick<Answer, "message" | "usage"> {
  const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
  const message = isObject(choice) && isObject(choice.message) ? choice.message : {};
  return { message, usage: body.usage };
}
