// Labels for files of the original system, which name neither prompt nor tools: the policy and the tool lists of the
// dataset folder they came from. The policy is found in any order of a combination's names; if there is none,
// none is made up. The original's preamble is not public, so the policy is used alone.
import { type JsonObject, type ToolSpec, toFunctionTools } from "../core/index.ts";
import {
  type DatasetFolder,
  type DomainFiles,
  openDatasetFolder,
  parseNames,
  readPolicy,
  readToolList,
} from "../domains/index.ts";
import { type NameStyle, Toolbox } from "../tools/index.ts";
import type { ExportRecord } from "./record.ts";

export class BaseLabels {
  readonly #folders: DatasetFolder[];
  readonly #domains = new Map<string, DomainLabels | undefined>();

  constructor(base: string) {
    const folders = (["single", "cross"] as const).map((kind) => openDatasetFolder(base, kind));
    this.#folders = folders[0]?.path === folders[1]?.path ? folders.slice(0, 1) : folders;
  }

  label(record: ExportRecord): void {
    if (record.system !== undefined && record.tools) return;
    const labels = this.#labelsOf(record.domains.length > 0 ? record.domains.join("+") : record.dataset);
    if (!labels) return;
    if (record.domains.length === 0) record.domains = labels.servers;
    record.system ??= labels.policy;
    record.tools ??= labels.toolsFor(record);
  }

  #labelsOf(written: string): DomainLabels | undefined {
    if (!this.#domains.has(written)) this.#domains.set(written, this.#find(written));
    return this.#domains.get(written);
  }

  /** `A_B`, `B+A`, or a file's stem with a suffix, as in `A_B_results`. Of two folders, the one with a policy wins. */
  #find(written: string): DomainLabels | undefined {
    const parts = written.split("_");
    for (let length = parts.length; length > 0; length--) {
      const found = this.#folders.flatMap((folder) => {
        const names = parseNames(parts.slice(0, length).join("_"), folder.serverNames());
        const files = names && folder.find(names);
        return files && Object.keys(files.toolListFiles).length === files.servers.length ? [files] : [];
      });
      const files = found.find(({ policyFile }) => policyFile) ?? found[0];
      if (files) return new DomainLabels(files);
    }
    return undefined;
  }
}

class DomainLabels {
  readonly servers: string[];
  readonly policy: string | undefined;
  readonly #toolboxes: { [style in NameStyle]: Toolbox };
  readonly #lists = new Map<string, JsonObject[]>();

  constructor(files: DomainFiles) {
    this.servers = files.servers;
    this.policy = readPolicy(files);
    const specs = files.servers.map((server) => ({ server, tools: readToolList(server, files) }));
    this.#toolboxes = { dotted: new Toolbox(specs, "dotted"), prefixed: new Toolbox(specs, "prefixed") };
  }

  /** In the style of the record's calls, dotted if it has none; a tool called by another name keeps that name. */
  toolsFor({ messages }: ExportRecord): JsonObject[] {
    const called = new Set(
      messages.flatMap((message) =>
        message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.function.name) : [],
      ),
    );
    const style: NameStyle = [...called].some((name) => name.includes("__")) ? "prefixed" : "dotted";
    const { tools, renamed } = rename(this.#toolboxes[style], called);
    const key = `${style} ${renamed}`;
    const known = this.#lists.get(key) ?? toFunctionTools(tools);
    this.#lists.set(key, known);
    return known;
  }
}

function rename(toolbox: Toolbox, called: Set<string>): { tools: ToolSpec[]; renamed: string } {
  const names = new Map<string, string>();
  for (const name of called) {
    const meant = toolbox.resolve(name) ?? toolbox.resolve(name.split(/\.|__/).at(-1) as string);
    if (meant && meant.spec.name !== name && !called.has(meant.spec.name)) names.set(meant.spec.name, name);
  }
  const tools = toolbox.tools.map((tool) => ({ ...tool, name: names.get(tool.name) ?? tool.name }));
  return { tools, renamed: JSON.stringify([...names].sort()) };
}
