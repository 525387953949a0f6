// Tools of several sources in one dialogue: a domain of a folder, MCP servers, plain functions, a corpus. Each keeps its
// own environment; a call goes to the one that has the tool.
import {
  contentHash,
  type Environment,
  type EnvironmentCall,
  type StateChanges,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  type World,
} from "../core/index.ts";
import { type NameStyle, Toolbox, unknownTool } from "../tools/index.ts";
import { type Domain, mergeLists, renameRule } from "./domain.ts";

/** Tools keep the names that they have in their part; those that two parts have get their server's prefix. */
export function combineDomains(name: string, parts: readonly Domain[], style?: NameStyle): Domain {
  const [only] = parts;
  if (only && parts.length === 1) return { ...only, name };
  const toolboxes = parts.map((part) => part.toolbox);
  const names = new Names(toolboxes, style);
  const all = <T>(list: (part: Domain) => readonly T[] | undefined) => parts.flatMap((part) => list(part) ?? []);
  return {
    name,
    servers: all(({ servers }) => servers),
    policy: parts.find(({ policy }) => policy !== undefined)?.policy,
    toolbox: names.toolbox,
    rules: parts.flatMap(({ rules }, part) => rules.map((rule) => renameRule(rule, (tool) => names.here(part, tool)))),
    volatile: mergeLists(parts.map(({ volatile }) => volatile)),
    freeArguments: Object.fromEntries(
      parts.flatMap(({ freeArguments }, part) =>
        Object.entries(freeArguments).map(([tool, open]) => [names.here(part, tool), open]),
      ),
    ),
    ...(parts.some(({ unseen }) => unseen) && { unseen: all(({ unseen }) => unseen) }),
    stateless: all(({ stateless }) => stateless),
    perRollout: parts.some(({ perRollout }) => perRollout),
    contentHash: contentHash(parts.map((part) => part.contentHash)),
    shared: all(({ shared }) => shared),
    openEnvironment: async (world) => {
      const opened = await openAll(parts, world);
      const isUsual = opened.every(({ tools }, index) => tools === toolboxes[index]?.tools);
      return new CombinedEnvironment(parts, opened, isUsual ? names : relisted(parts, opened, style));
    },
  };
}

/** MCP servers may list other tools for another rollout. */
function relisted(parts: readonly Domain[], opened: readonly Environment[], style: NameStyle | undefined): Names {
  const listed = opened.map(({ tools }, index) => {
    const { toolbox, name } = parts[index] as Domain;
    return tools === toolbox.tools ? toolbox : new Toolbox([{ server: name, tools }], style);
  });
  return new Names(listed, style);
}

/** Each tool's name in the combination and in its part. */
class Names {
  readonly toolbox: Toolbox;
  readonly #there = new Map<string, { part: number; name: string }>();
  readonly #here = new Map<string, string>();

  constructor(toolboxes: readonly Toolbox[], style: NameStyle | undefined) {
    this.toolbox = Toolbox.merge(toolboxes, style);
    const listed = toolboxes.flatMap(({ tools }, part) => tools.map(({ name }) => ({ part, name })));
    for (const [index, { name }] of this.toolbox.tools.entries()) {
      const there = listed[index] as { part: number; name: string };
      this.#there.set(name, there);
      this.#here.set(`${there.part} ${there.name}`, name);
    }
  }

  here(part: number, name: string): string {
    return this.#here.get(`${part} ${name}`) ?? name;
  }

  /** The part that has the tool, and its name there. */
  find(name: string): { part: number; name: string } | undefined {
    return this.#there.get(this.toolbox.wireName(name));
  }
}

class CombinedEnvironment implements Environment {
  readonly #parts: readonly Domain[];
  readonly #opened: readonly Environment[];
  readonly #names: Names;

  constructor(parts: readonly Domain[], opened: readonly Environment[], names: Names) {
    this.#parts = parts;
    this.#opened = opened;
    this.#names = names;
  }

  get tools(): ToolSpec[] {
    return this.#names.toolbox.tools;
  }

  isReadOnly(toolName: string): boolean {
    const found = this.#find({ name: toolName });
    return found?.environment.isReadOnly(found.name) ?? true;
  }

  async call(call: EnvironmentCall, signal: AbortSignal): Promise<ToolResult> {
    const found = this.#find(call);
    if (!found) return unknownTool(call.name, this.#names.toolbox.names());
    return found.environment.call({ ...call, name: found.name }, signal);
  }

  trust(call: ToolCall, recorded: ToolResult): boolean {
    const found = this.#find(call);
    return found?.environment.trust?.({ ...call, name: found.name }, recorded) ?? false;
  }

  /** If several parts have a state, that of MCP servers is under their names. */
  async state(): Promise<StateChanges> {
    const states = await Promise.all(this.#opened.map((environment) => environment.state()));
    const withState = this.#parts.filter(({ servers, stateless = [] }) =>
      servers.some((each) => !stateless.includes(each)),
    );
    return Object.assign(
      {},
      ...states.map((changes, index) => {
        const { unseen, servers } = this.#parts[index] as Domain;
        if (!unseen || withState.length < 2) return changes;
        return Object.fromEntries(
          Object.entries(changes).map(([table, rows]) => [`${servers.join("+")}.${table}`, rows]),
        );
      }),
    );
  }

  async settle(): Promise<void> {
    await Promise.all(this.#opened.map((environment) => environment.settle?.()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((environment) => environment.close()));
  }

  /** A setup may call tools of MCP servers that nobody is offered. */
  #find({ name, by }: Pick<EnvironmentCall, "name" | "by">): { environment: Environment; name: string } | undefined {
    const found = this.#names.find(name);
    if (found) return { environment: this.#opened[found.part] as Environment, name: found.name };
    const hidden = by === "setup" ? this.#parts.findIndex(({ unseen }) => unseen) : -1;
    return hidden === -1 ? undefined : { environment: this.#opened[hidden] as Environment, name };
  }
}

/** If one cannot be opened, those that were are closed. */
async function openAll(parts: readonly Domain[], world: World): Promise<Environment[]> {
  const opened = await Promise.allSettled(parts.map((part) => part.openEnvironment(world)));
  const failed = opened.find((each) => each.status === "rejected");
  const environments = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (!failed) return environments;
  await Promise.all(environments.map((environment) => environment.close()));
  throw failed.reason;
}
