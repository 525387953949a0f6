// The state of an MCP server, as it shows it to us: any JSON. Each rollout keeps the state in which it found its server;
// equal ones are kept once.
import { contentHash, cutText, type Json, parseExact, redactText, type StateChanges } from "../../core/index.ts";
import type { ResolvedServer } from "./config.ts";
import { type McpConnection, ServerTrouble } from "./connection.ts";
import { changesBetween } from "./state-changes.ts";

/** The server answered, but not with its state. */
export class StateTrouble extends ServerTrouble {
  override name = "StateTrouble";
}

/** The text of the server's state, which is JSON. */
export async function readState(connection: McpConnection, server: ResolvedServer): Promise<string> {
  const { name, stateTool, stateResource = "" } = server;
  const what = `MCP server "${name}": ${stateTool === undefined ? `state_resource ${stateResource}` : `state_tool ${stateTool}`}`;
  const { content, isError } =
    stateTool === undefined
      ? await connection.read(stateResource)
      : await connection.call(stateTool, {}, { asState: true });
  const shown = redactText(cutText(content.trim(), MAX_SHOWN));
  if (isError) throw new StateTrouble(name, `${what} failed: ${shown}`);
  if (parseExact(content) === undefined)
    throw new StateTrouble(name, `${what} did not answer with JSON: ${shown || "nothing"}`);
  return content;
}

const MAX_SHOWN = 200;

/** Parsed when it is needed, and then for all who hold it. */
export class KnownState {
  readonly text: string;
  #value: Json | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get value(): Json {
    this.#value ??= parseExact(this.text) as Json;
    return this.#value;
  }
}

export function changesSince(initial: KnownState, text: string): StateChanges {
  return text === initial.text ? {} : changesBetween(initial.value, parseExact(text) as Json);
}

/** One object for each content, as long as anybody holds it. */
export class KnownStates {
  readonly #known = new Map<string, WeakRef<KnownState>>();

  know(text: string): KnownState {
    const hash = contentHash(text);
    const known = this.#known.get(hash)?.deref();
    if (known?.text === text) return known;
    if (this.#known.size >= MAX_KNOWN) this.#forgetDead();
    const state = new KnownState(text);
    this.#known.set(hash, new WeakRef(state));
    return state;
  }

  #forgetDead(): void {
    for (const [hash, reference] of this.#known) if (!reference.deref()) this.#known.delete(hash);
  }
}

const MAX_KNOWN = 1000;
