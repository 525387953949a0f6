// A domain's environment as one query wants it: its setup made, the calls of its opening made again, and the simulated
// user's own tools set apart from the agent's. Rollouts, resumes, replays and references all open theirs here.
import {
  type Environment,
  hasOpeningCalls,
  type OpenedCall,
  type Query,
  RolloutError,
  redactText,
  type ToolCall,
  type ToolSpec,
  UsageError,
  type World,
  writeExact,
} from "../core/index.ts";
import { type Toolbox, unknownTool } from "../tools/index.ts";
import type { Domain } from "./domain.ts";

export async function openTask(domain: Domain, world: World): Promise<Environment> {
  const environment = await domain.openEnvironment(world);
  const { query } = world;
  if (!query) return environment;
  try {
    const opened = await makeOpening(environment, domain, query);
    if (hasOpeningCalls(query)) await environment.settle?.();
    const split = query.userTools?.length ? splitTools(domain, environment.tools, query.userTools) : undefined;
    if (!split && opened.length === 0) return environment;
    return withParties(environment, domain.toolbox, split, opened);
  } catch (error) {
    await environment.close();
    throw error;
  }
}

const NEVER = new AbortController().signal;

async function makeOpening(environment: Environment, domain: Domain, query: Query): Promise<OpenedCall[]> {
  const opened: OpenedCall[] = [];
  for (const call of setupCalls(environment, domain, query)) {
    const result = await environment.call({ ...call, by: "setup" }, NEVER);
    if (result.isError)
      throw new RolloutError("tool", `setup: ${call.name} answered with an error: ${redactText(result.content)}`);
    opened.push({ ...call, result });
  }
  for (const message of query.messages) {
    for (const { id, function: called } of (message.role === "assistant" && message.tool_calls) || []) {
      const call: ToolCall = { id, ...called };
      const written = query.messages.find((other) => other.role === "tool" && other.tool_call_id === id)?.content ?? "";
      if (environment.trust?.(call, { content: written, isError: false })) continue;
      opened.push({ ...call, result: await environment.call(call, NEVER) });
    }
  }
  return opened;
}

/**
 * Throws a UsageError if one is on a server that all rollouts share: what is set up for one would be there for all; or if it
 * is a plain function, which has nothing to set up.
 */
export function setupCalls(environment: Environment, domain: Domain, { id, setup = [] }: Query): ToolCall[] {
  const { toolbox, stateless = [] } = domain;
  return setup.map(({ name, arguments: args }, index) => {
    const call = { id: `setup_${index}`, name: toolbox.wireName(name), arguments: writeExact(args) };
    if (!environment.trust?.(call, { content: "", isError: false })) return call;
    if (stateless.includes(toolbox.resolve(name)?.server ?? ""))
      throw new UsageError(`query "${id}" has a setup, and ${name} is a function without state: it sets nothing up`);
    throw new UsageError(
      `query "${id}" has a setup, and ${name} is on a server that all rollouts share: give it another isolation`,
    );
  });
}

type Split = { agent: ToolSpec[]; user: ToolSpec[] };

/** By list and names: every rollout then uses the same list objects for the same tools. */
const splits = new WeakMap<ToolSpec[], Map<string, Split>>();

function splitTools(domain: Domain, tools: ToolSpec[], patterns: readonly string[]): Split {
  const key = JSON.stringify(patterns);
  const known = splits.get(tools) ?? new Map<string, Split>();
  splits.set(tools, known);
  let split = known.get(key);
  if (!split) {
    const own = new Set(patterns.flatMap((pattern) => requireTools(domain, pattern)));
    split = { agent: tools.filter(({ name }) => !own.has(name)), user: tools.filter(({ name }) => own.has(name)) };
    known.set(key, split);
  }
  return split;
}

/** The wire names of the tools that a name of `user_tools` means. */
export function findUserTools({ toolbox }: Domain, pattern: string): string[] {
  if (!pattern.endsWith(".*")) {
    const named = toolbox.resolve(pattern);
    return named ? [named.spec.name] : [];
  }
  const server = pattern.slice(0, -2);
  return toolbox.names().filter((name) => toolbox.resolve(name)?.server === server);
}

export function requireTools(domain: Domain, pattern: string): string[] {
  const found = findUserTools(domain, pattern);
  if (found.length === 0)
    throw new UsageError(
      `${domain.name}: user_tools names "${pattern}", which is not there. There are: ${domain.toolbox.names().join(", ")}`,
    );
  return found;
}

function withParties(
  environment: Environment,
  toolbox: Toolbox,
  split: Split | undefined,
  opened: OpenedCall[],
): Environment {
  const { agent: tools, user: userTools } = split ?? { agent: environment.tools, user: undefined };
  const offered = { agent: new Set(tools.map(namesOf)), user: new Set(userTools?.map(namesOf)) };
  return {
    tools,
    userTools,
    opened,
    isReadOnly: (tool) => environment.isReadOnly(tool),
    call: async (call, signal) => {
      const names = offered[call.by === "user" ? "user" : "agent"];
      if (split && !names.has(toolbox.wireName(call.name))) return unknownTool(call.name, [...names]);
      return environment.call(call, signal);
    },
    trust: environment.trust && ((call, recorded) => environment.trust?.(call, recorded) ?? false),
    state: () => environment.state(),
    close: () => environment.close(),
  };
}

function namesOf({ name }: ToolSpec): string {
  return name;
}
