// What scripted models play: a query's reference plan, passed in by code that knows the domains.
import {
  type ChatMessage,
  type ModelRequest,
  type ReferencePlan,
  RolloutError,
  type Usage,
  UsageError,
} from "../../core/index.ts";

export type Script = {
  plan: ReferencePlan;
  /** from the plan's tool name (`Server.tool` or bare) to the one on the wire, and back */
  wireName(planName: string): string;
  planName(wireName: string): string;
  /** whether a tool changes nothing, by its name on the wire */
  isReadOnly?(wireName: string): boolean;
};

export type PlanFor = (request: ModelRequest) => Script | undefined;

export function scriptFor(planFor: PlanFor, request: ModelRequest): Script {
  const script = planFor(request);
  if (script) return script;
  throw new RolloutError(
    "infrastructure",
    `scripted models need a reference plan, and query "${request.origin.queryId}" has none (task_info.plan)`,
  );
}

/** `scripted/agent?skill=0.7` → the role and its checked knobs. */
export function parseScriptedName(name: string): { role: "agent" | "user" | "judge"; skill: number } {
  const [path = "", search = ""] = name.split("?", 2) as [string, string?];
  const role = path.slice("scripted/".length);
  if (role !== "agent" && role !== "user" && role !== "judge") {
    throw new UsageError(
      `There is no model "${name}"; scripted models are scripted/agent, scripted/user and scripted/judge`,
    );
  }
  const knobs = new URLSearchParams(search);
  for (const knob of knobs.keys()) {
    if (knob !== "skill" || role !== "agent")
      throw new UsageError(`"${path}" has no knob "${knob}"; scripted/agent takes skill`);
  }
  const written = knobs.get("skill") ?? "1";
  const skill = written.trim() === "" ? Number.NaN : Number(written);
  if (!(skill >= 0 && skill <= 1)) throw new UsageError(`The skill in "${name}" must be a number from 0 to 1`);
  return { role, skill };
}

/** An estimate at four characters per token: it is never billed. */
export function estimateUsage(request: ModelRequest, reply: string): Usage {
  const input = request.messages.reduce((sum, message) => sum + lengthOf(message), request.system.length);
  return {
    inputTokens: Math.ceil(input / 4),
    outputTokens: Math.ceil(reply.length / 4),
    cachedTokens: 0,
    reasoningTokens: 0,
    costUsd: 0,
    scripted: true,
  };
}

/** In characters. */
export function lengthOf(message: ChatMessage): number {
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  return message.content.length + calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
}
