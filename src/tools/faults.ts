// Deliberate tool faults, to make data in which agents recover. Which call meets which fault depends only on the seed
// and the call's number, so a replay meets the same ones. Calls that the tool would refuse anyway are left alone.
//
// - `error`, `rate_limit`, `timeout`: the call is answered with an error and NOT executed, so that a retry is safe.
// - `stale`: a read-only tool's earlier result is returned, not executed; if there is none, the call goes through.
// - `truncated`: the call is executed but its text is cut; the full text is kept in `raw`.
import { z } from "zod";
import {
  createRandom,
  type Environment,
  type Random,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  UsageError,
} from "../core/index.ts";
import { checkArguments, failure } from "./arguments.ts";

const TOOL_TROUBLES = ["timeout", "error", "stale", "truncated", "rate_limit"] as const;
type ToolTrouble = (typeof TOOL_TROUBLES)[number];

const rate = z.number().min(0).max(1).optional();

/** `faults:` in a config: how often each fault happens (0 to 1, at most 1 in total), to which tools (default all). */
export const toolFaultsSchema = z.strictObject({
  rates: z.strictObject({ timeout: rate, error: rate, stale: rate, truncated: rate, rate_limit: rate }),
  tools: z.array(z.string()).optional(),
});

export type ToolFaults = z.infer<typeof toolFaultsSchema>;

export function withToolFaults(environment: Environment, faults: ToolFaults & { seed: number }): Environment {
  const total = TOOL_TROUBLES.reduce((sum, trouble) => sum + (faults.rates[trouble] ?? 0), 0);
  if (total > 1 + 1e-9) throw new UsageError(`faults.rates add up to ${total}; together they may be at most 1`);
  const specs = new Map(environment.tools.map((spec) => [spec.name, spec]));
  const latest = new Map<string, ToolResult>();
  let calls = 0;

  const remember = (call: ToolCall, result: ToolResult) => {
    if (!result.isError && result.injected === undefined) latest.set(call.name, result);
    return result;
  };

  const troubleFor = (call: ToolCall, random: Random): ToolTrouble | undefined => {
    const spec = specs.get(call.name);
    const drawn = draw(faults.rates, random);
    if (!spec || !isChosen(spec, faults.tools) || !checkArguments(spec, call.arguments).ok) return undefined;
    return drawn;
  };

  return {
    tools: environment.tools,
    userTools: environment.userTools,
    opened: environment.opened,
    isReadOnly: (toolName) => environment.isReadOnly(toolName),
    state: () => environment.state(),
    close: () => environment.close(),
    trust: (call, recorded) => {
      if (!environment.trust?.(call, recorded)) return false;
      calls++;
      remember(call, recorded);
      return true;
    },
    call: async (call, signal) => {
      const random = createRandom("tool-fault", faults.seed, calls++);
      const trouble = troubleFor(call, random);
      const stale = environment.isReadOnly(call.name) ? latest.get(call.name) : undefined;
      if (trouble === "stale" && stale) return { ...stale, injected: trouble };
      if (trouble === "error" || trouble === "rate_limit" || trouble === "timeout") {
        return { ...failure(random.pick(TEXTS[trouble]), "tool_error"), injected: trouble };
      }
      const result = remember(call, await environment.call(call, signal));
      return trouble === "truncated" ? truncate(result, random) : result;
    },
  };
}

const TEXTS = {
  timeout: [
    "The request timed out after 30 seconds",
    "504 Gateway Timeout: the service did not answer in time",
    "Operation timed out; nothing was changed",
  ],
  error: [
    "500 Internal Server Error",
    "503 Service Unavailable: the service is under maintenance, please try again",
    "Connection to the database was lost; nothing was changed",
  ],
  rate_limit: [
    "429 Too Many Requests: try again in 20 seconds",
    "Rate limit exceeded. Please retry later",
    "Quota exceeded for this minute; please slow down",
  ],
};

function draw(rates: ToolFaults["rates"], random: Random): ToolTrouble | undefined {
  let left = random.next();
  for (const trouble of TOOL_TROUBLES) {
    left -= rates[trouble] ?? 0;
    if (left < 0) return trouble;
  }
  return undefined;
}

/** A name in the config matches the wire name, or what follows the domain's prefix. */
function isChosen(spec: ToolSpec, tools: string[] | undefined): boolean {
  return !tools || tools.some((tool) => tool === spec.name || /(?:__|\.)(.+)$/.exec(spec.name)?.[1] === tool);
}

/** Cut somewhere between a fifth and two thirds; errors and texts too short to cut stay whole. */
function truncate(result: ToolResult, random: Random): ToolResult {
  const characters = Array.from(result.content);
  const length = Math.floor(characters.length * (0.2 + 0.45 * random.next()));
  if (result.isError || length === 0) return result;
  const content = characters.slice(0, length).join("");
  return { ...result, content, raw: result.raw ?? result.content, injected: "truncated" };
}
