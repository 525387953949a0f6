// Tool names on the wire. One domain: bare names. Several: `{prefix}__{tool}`, where the prefix depends only on the set
// of servers, never on the order they were loaded in. Whichever style a model uses, its call finds its tool.
import { contentHash, fold, type ToolSpec } from "../core/index.ts";

export type NameStyle = "prefixed" | "dotted";
export type ServerTools = { server: string; tools: ToolSpec[] };
export type NamedTool = { server: string; tool: string; spec: ToolSpec };

export class Toolbox {
  /** as the model sees them, under their wire names */
  readonly tools: ToolSpec[];
  readonly #byWireName = new Map<string, NamedTool>();
  readonly #byOtherName = new Map<string, NamedTool | "several">();

  constructor(servers: ServerTools[], style: NameStyle = "prefixed") {
    const prefixes = prefixesFor(servers.map(({ server }) => server));
    for (const { server, tools } of servers) {
      for (const spec of tools) {
        const prefix = prefixes.get(server) as string;
        const wireName = servers.length === 1 ? withinLimits(spec.name) : joinName(prefix, spec.name, style);
        this.#add({ server, tool: spec.name, spec }, prefix, wireName);
      }
    }
    this.tools = [...this.#byWireName.values()].map(({ spec }) => spec);
  }

  /** The tools of several, in their order: under the names that they have, unless two have the same one. */
  static merge(toolboxes: readonly Toolbox[], style: NameStyle = "prefixed"): Toolbox {
    const merged = new Toolbox([], style);
    const all = toolboxes.flatMap((toolbox) => [...toolbox.#byWireName.values()]);
    const prefixes = prefixesFor([...new Set(all.map(({ server }) => server))]);
    const names = all.map(({ spec }) => spec.name);
    const isShared = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
    for (const named of all) {
      const { name } = named.spec;
      const prefix = prefixes.get(named.server) as string;
      merged.tools.push(merged.#add(named, prefix, isShared(name) ? joinName(prefix, named.tool, style) : name));
    }
    return merged;
  }

  /** The tool meant by a name in a call or a plan: the wire name, `sap.tool`, `Server.tool`, or the bare name. */
  resolve(name: string): NamedTool | undefined {
    const exact = this.#byWireName.get(name);
    if (exact) return exact;
    const other = this.#byOtherName.get(name);
    return other === "several" ? undefined : other;
  }

  /** The tool's name on the wire; the name itself if no tool is meant by it. */
  wireName(name: string): string {
    return this.resolve(name)?.spec.name ?? name;
  }

  names(): string[] {
    return [...this.#byWireName.keys()];
  }

  #add({ server, tool, spec }: NamedTool, prefix: string, wanted: string): ToolSpec {
    const name = this.#unused(wanted);
    const named = { server, tool, spec: { ...spec, name } };
    this.#byWireName.set(name, named);
    for (const other of otherNames(server, prefix, tool)) this.#addOther(other, named);
    return named.spec;
  }

  #addOther(name: string, named: NamedTool): void {
    this.#byOtherName.set(name, this.#byOtherName.has(name) ? "several" : named);
  }

  #unused(name: string): string {
    let unused = name;
    for (let n = 2; this.#byWireName.has(unused); n++) unused = withinLimits(`${name}_${n}`);
    return unused;
  }
}

/** Initials in lower case; servers that would share a prefix get their full name, at worst with a hash of it. */
export function prefixesFor(servers: string[]): Map<string, string> {
  let prefixes = new Map(servers.map((server) => [server, initialsOf(server)]));
  const hashed = (server: string) => `${snakeCase(server)}_${contentHash(server).slice(0, 6)}`;
  // a full name may equal another server's initials, hence twice
  for (const longer of [snakeCase, snakeCase, hashed]) {
    const taken = [...prefixes.values()];
    const isShared = (prefix: string) => taken.indexOf(prefix) !== taken.lastIndexOf(prefix);
    prefixes = new Map([...prefixes].map(([server, prefix]) => [server, isShared(prefix) ? longer(server) : prefix]));
  }
  return prefixes;
}

function joinName(prefix: string, tool: string, style: NameStyle): string {
  return style === "dotted" ? `${prefix}.${tool}` : withinLimits(`${prefix}__${tool}`);
}

/** At most 64 characters that every provider accepts; a cut name gets a hash of the full one, so it stays unique. */
function withinLimits(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_");
  return clean.length <= 64 ? clean : `${clean.slice(0, 57)}_${contentHash(name).slice(0, 6)}`;
}

function otherNames(server: string, prefix: string, tool: string): string[] {
  const qualifiers = [server, prefix, snakeCase(server), fold(server)];
  return [...new Set([tool, ...qualifiers.flatMap((qualifier) => [`${qualifier}.${tool}`, `${qualifier}__${tool}`])])];
}

function initialsOf(server: string): string {
  return (server.match(/[A-Z]+(?![a-z])|[A-Z]|[0-9]+/g) ?? [server.slice(0, 3)])
    .map((word) => word[0])
    .join("")
    .toLowerCase();
}

export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}
