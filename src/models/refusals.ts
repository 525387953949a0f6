// Settings that a model answers with a 400. What is known of a model by its name, or said in the registry, is left out of
// its requests, and told.
import type { CallSettings, ResolvedModel } from "./resolved.ts";

/** By the names that most wires have for them. */
export const REFUSABLE = ["temperature", "top_p", "max_tokens", "seed"] as const;
type Refusable = (typeof REFUSABLE)[number];

export type Refusals = {
  never: readonly Refusable[];
  /** they are taken while the model's reasoning is off */
  unlessOff?: true;
  /** a temperature or a top_p, not both */
  oneSampler?: true;
};

const SAMPLING = ["temperature", "top_p"] as const;

/** OpenAI's and Anthropic's models also come under these names from gateways. */
export function refusalsOf(provider: string, model: string): Refusals | undefined {
  const name = model.toLowerCase();
  const gpt = /(?:^|[/.])gpt-(\d+)(?:\.(\d+))?(?![\d.])/.exec(name);
  if (gpt) return ofGpt(Number(gpt[1]), Number(gpt[2] ?? 0), name);
  if (/(?:^|[/.])(?:o\d(?![\w.])|codex-mini)/.test(name)) return { never: SAMPLING };
  const claude = /claude-?(?:[a-z]+-?)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(name);
  if (claude) return ofClaude(Number(claude[1]), Number(claude[2] ?? 0));
  if (/^(moonshot|kimi)/.test(provider) && /kimi-k2\.[5-9]/.test(name)) return { never: SAMPLING };
  return undefined;
}

function ofGpt(major: number, minor: number, name: string): Refusals | undefined {
  if (major < 5 || (minor === 0 && name.includes("chat"))) return undefined;
  return major === 5 && minor > 0 && !name.includes("chat")
    ? { never: SAMPLING, unlessOff: true }
    : { never: SAMPLING };
}

function ofClaude(major: number, minor: number): Refusals | undefined {
  const version = major + minor / 100;
  if (version >= 4.07) return { never: SAMPLING };
  return version >= 4.01 ? { never: [], oneSampler: true } : undefined;
}

type Accepted = {
  settings: CallSettings;
  /** one sentence for each setting that is left out and would have made a difference */
  leftOut: string[];
};

/** The settings without those that the model refuses. What `extra_params` say is sent as it is written. */
export function acceptedSettings(model: ResolvedModel, settings: CallSettings): Accepted {
  const { refuses } = model;
  const kept = { ...settings };
  const leftOut: string[] = [];
  const leave = (name: Refusable, why: string) => {
    const value = writtenValue(name, kept);
    if (value === undefined) return;
    delete kept[MEMBERS[name]];
    if (value !== UNCHANGED[name]) leftOut.push(`${model.id} ${why}: ${name} ${value} is not sent`);
  };

  const isOff = settings.thinkingOptions?.effort === "none";
  for (const name of refuses?.never ?? []) {
    if (!refuses?.unlessOff) leave(name, `takes no ${name}`);
    else if (!isOff) leave(name, `takes a ${name} only with its reasoning off (thinking: {effort: none})`);
  }
  if (model.reasoning.style === "anthropic" && isThinking(settings))
    for (const name of SAMPLING) leave(name, `takes no ${name} while it thinks`);
  if (refuses?.oneSampler && kept.temperature !== undefined) leave("top_p", "takes a temperature or a top_p, not both");
  return { settings: kept, leftOut };
}

const MEMBERS = { temperature: "temperature", top_p: "topP", max_tokens: "maxTokens", seed: "sendSeed" } as const;
/** What a model does anyway. */
const UNCHANGED: { [name: string]: unknown } = { temperature: 1, top_p: 1 };

function writtenValue(name: Refusable, settings: CallSettings): number | string | undefined {
  if (name !== "seed") return settings[MEMBERS[name]];
  return settings.sendSeed ? "of the rollout" : undefined;
}

function isThinking({ thinking, thinkingOptions }: CallSettings): boolean {
  return thinking ?? (thinkingOptions !== undefined && thinkingOptions.type !== "disabled");
}
