// A module of plain functions as a server without state: each function that it exports is a tool.
import { readFileSync } from "node:fs";
import { isObject, type JsonObject, type Location, type ToolSpec, UsageError } from "../../core/index.ts";
import type { DomainServer } from "../domain-server.ts";
import { loadModule } from "../load-module.ts";
import { readSignature, type Signature } from "./read-signature.ts";
import { UnreadableType } from "./read-type.ts";

export type FunctionServer = { server: DomainServer; tools: ToolSpec[] };

type Exported = ((...args: unknown[]) => unknown) & { parameters?: unknown; description?: unknown };

export async function loadFunctions(file: string): Promise<FunctionServer> {
  const module = await loadModule(file);
  const text = readFileSync(file, "utf8");
  const tools: ToolSpec[] = [];
  const reads: DomainServer["reads"] = {};
  for (const [name, call] of listFunctions(module)) {
    const { signature, description, parameters } = describe(name, call, text, file);
    tools.push({ name, description, parameters, readOnly: true });
    const names = signature?.names;
    const known = isObject(parameters.properties) ? Object.keys(parameters.properties) : [];
    const isSpread = names?.every((each) => known.includes(each)) ?? false;
    reads[name] = (_: unknown, args: JsonObject) =>
      (isSpread ? call(...(names ?? []).map((each) => args[each])) : call(args)) as never;
  }
  if (tools.length === 0) throw new UsageError("exports no functions to offer as tools", { file });
  return { server: { today: "1970-01-01", reads, writes: {} }, tools };
}

function listFunctions(module: object): [string, Exported][] {
  const found = new Map<string, Exported>();
  for (const [key, value] of Object.entries(module)) {
    if (typeof value !== "function" || /^class\b/.test(Function.prototype.toString.call(value))) continue;
    const name = key === "default" ? value.name : key;
    if (name !== "" && name !== "default" && !name.startsWith("_")) found.set(name, value as Exported);
  }
  return [...found];
}

function describe(name: string, call: Exported, text: string, file: string) {
  const own = isObject(call.parameters) ? (call.parameters as JsonObject) : undefined;
  const signature = tryReading(name, text, file, own !== undefined);
  const parameters = own ?? signature?.parameters;
  if (!parameters)
    throw new UsageError(`the parameters of ${name} are not written here: say what they are with ${name}.parameters`, {
      file,
    });
  const description = typeof call.description === "string" ? call.description : (signature?.description ?? "");
  return { signature, parameters, description };
}

function tryReading(name: string, text: string, file: string, isKnown: boolean): Signature | undefined {
  try {
    return readSignature(text, name);
  } catch (error) {
    if (!(error instanceof UnreadableType)) throw error;
    if (isKnown) return undefined;
    const location: Location = { file, line: text.slice(0, error.at).split("\n").length };
    throw new UsageError(`${name}: ${sentence(error.message)}; or say what it takes with ${name}.parameters`, location);
  }
}

function sentence(message: string): string {
  return /^(is|cannot)\b/.test(message) ? `the type here ${message}` : message;
}
