// One endpoint of one model as a probe sees it: short requests with the settings of a run, each answer with what the
// server really wrote, and everything found so far.
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
import { createDispatchers, type Dispatchers } from "../http.ts";
import { acceptedSettings } from "../refusals.ts";
import { adviseOn, explainRefusals } from "../refused-settings.ts";
import type { CallSettings, PartyModel, ResolvedModel } from "../resolved.ts";
import type { ToolFormat } from "../tool-format/formats.ts";
import { withToolFormat } from "../tool-format/with-tool-format.ts";
import { type Finding, tellOnce } from "./finding.ts";
import { tap } from "./tap.ts";

export type ProbeRole = RequestOrigin["party"];

export type Answer = { reply: ModelReply; message: Record<string, unknown>; usage: unknown };

export type EndpointProbe = {
  /** its one base URL may be put right */
  model: ResolvedModel;
  role: ProbeRole;
  /** the settings of a run, if there are any; those that are refused are dropped */
  party: Partial<PartyModel>;
  findings: Finding[];
  dispatchers: Dispatchers;
  signal: AbortSignal;
  /** The answer or the failure: never throws for what the endpoint does. */
  ask(request: Partial<ModelRequest>, changes?: AskChanges): Promise<Answer | ModelFailure>;
  close(): Promise<void>;
};

export type AskChanges = {
  settings?: CallSettings;
  reasoning?: Partial<ResolvedModel["reasoning"]>;
  signal?: AbortSignal;
};

export type ProbeDeps = {
  env: Variables;
  clock: Clock;
  signal: AbortSignal;
  party?: Partial<PartyModel>;
  /** for one answer */
  timeoutSeconds?: number;
};

/** As a run would call it. */
export function toolFormatOf({ party, model }: Pick<EndpointProbe, "party" | "model">): ToolFormat {
  return party.toolFormat ?? model.toolFormat ?? "native";
}

const TIMEOUT_SECONDS = 120;
/** Enough for what is asked for. A model that thinks first gets more once it has shown that it needs it. */
const MAX_TOKENS = 256;
const MAX_TOKENS_TO_THINK = 4096;

/** `model` has one base URL. */
export function openProbe(model: ResolvedModel, role: ProbeRole, deps: ProbeDeps): EndpointProbe {
  const { env, clock, signal, timeoutSeconds = TIMEOUT_SECONDS } = deps;
  const dispatchers = createDispatchers(env);
  let limit: number | undefined = MAX_TOKENS;
  let position = 0;

  function settingsOf(changes: AskChanges): CallSettings {
    // text calls are to be seen as what they are
    const written = { timeoutSeconds, ...probe.party.settings, recoverTextCalls: false, ...changes.settings };
    const own = written.maxTokens;
    const maxTokens = limit === undefined ? own : Math.min(limit, own ?? limit);
    return acceptedSettings(probe.model, { ...written, maxTokens }).settings;
  }

  async function askOnce(request: ModelRequest, changes: AskChanges): Promise<Answer | ModelFailure> {
    const changed = { ...probe.model, reasoning: { ...probe.model.reasoning, ...changes.reasoning } };
    const settings = settingsOf(changes);
    const filled = fillBodies(changed, settings, env);
    const line = tap(dispatchers);
    const more = { env, clock, dispatchers: line.dispatchers };
    const client = findDialect(changed.dialect).createClient(filled.model, filled.settings, more);
    const { places, settings: { maxTokens } = {} } = probe.party;
    const sent = { model: changed, settings: { ...settings, maxTokens }, places };
    try {
      const asked = withToolFormat(explainRefusals(client, sent), toolFormatOf(probe));
      const reply = await asked.complete(request, changes.signal ?? signal);
      return { reply, ...readWritten(line.last()) };
    } catch (error) {
      if (error instanceof ModelFailure) return error;
      throw error;
    }
  }

  /** The limit is ours: an endpoint that does not take it, or a model that needs more, is not to be judged by it. */
  function isOurs(used: number | undefined, answer: Answer | ModelFailure): boolean {
    if (used === undefined) return false;
    const own = probe.party.settings?.maxTokens;
    if (!(answer instanceof ModelFailure))
      return isCutBare(answer.reply) && used < Math.min(MAX_TOKENS_TO_THINK, own ?? MAX_TOKENS_TO_THINK);
    const ours = { model: { ...probe.model, body: {} }, settings: { maxTokens: used } };
    return own === undefined && answer.answer !== undefined && adviseOn(answer.answer, ours, role) !== undefined;
  }

  const probe: EndpointProbe = {
    model,
    role,
    party: deps.party ?? {},
    findings: [],
    dispatchers,
    signal,
    async ask(request, changes = {}) {
      const origin = originOf(role, position++);
      const whole = { system: "You are a helpful assistant.", messages: [], tools: [], toolChoice: "auto" as const };
      const asked = { ...whole, origin, ...request };
      const used = limit;
      const answer = await askOnce(asked, changes);
      if (!isOurs(used, answer)) return answer;
      if (answer instanceof ModelFailure) {
        tellOnce(probe.findings, { level: "odd", text: `takes no max_tokens: ${answer.message}` });
        limit = undefined;
      } else limit = MAX_TOKENS_TO_THINK;
      return askOnce(asked, changes);
    },
    close: () => dispatchers.close(),
  };
  return probe;
}

/** Cut before it said anything. */
export function isCutBare({ finish, content, toolCalls }: ModelReply): boolean {
  return finish === "length" && content.trim() === "" && toolCalls.length === 0;
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

function originOf(party: ProbeRole, position: number): RequestOrigin {
  return { dataset: "doctor", queryId: "doctor", rollout: 0, seed: 1, mode: "positive", party, position };
}

function readWritten(body: Record<string, unknown>): Pick<Answer, "message" | "usage"> {
  const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
  const message = isObject(choice) && isObject(choice.message) ? choice.message : {};
  return { message, usage: body.usage };
}
