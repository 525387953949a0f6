// How often calls' arguments and tools' schemas are encoded: a quotation mark between marks is put into each of them, and
// the backslashes before it are counted.
import { isObject, type Json, type JsonObject, parseJson } from "../../core/index.ts";
import type { ChatTemplate } from "./load-template.ts";
import { formsOf } from "./locate.ts";
import { createMarks } from "./marks.ts";
import { dumps, wrap } from "./python-values.ts";
import { calledFunction, type TemplateRow, withFunction } from "./row-parts.ts";

export type Encoding = "once" | "twice" | "lost";

type Call = { kind: "call"; message: number; number: number; arguments: Json | undefined };
type Tool = { kind: "tool"; number: number; tool: JsonObject; hasProperties: boolean };

export function probeEncodings(
  template: ChatTemplate,
  { messages, tools }: TemplateRow,
  plain: string,
): { calls: Encoding[]; tools: Encoding[] } {
  const calls = listCalls(messages);
  const list = toolList(tools);
  const probes: (Call | Tool)[] = [
    ...calls,
    ...list.map((tool, number): Tool => ({ kind: "tool", number, tool, hasProperties: hasProperties(tool) })),
  ];
  const marks = createMarks(plain);
  const results: Encoding[] = probes.map(() => "lost");

  const look = (ids: number[]): void => {
    const probeOf = (id: number) => `${marks.open(id)}"${marks.close(id)}`;
    // each tool has a second probe, in its parameters
    const second = (id: number) => id + probes.length;
    let rendered: string;
    try {
      const copy = probeCalls(messages, probes, ids, probeOf);
      const probed = list.map((tool, number) => {
        const id = calls.length + number;
        if (!ids.includes(id)) return tool;
        const name = marks.open(second(id)) + PROBE + marks.close(second(id));
        return probeTool(tool, probeOf(id), { name, description: probeOf(second(id)) });
      });
      const given = typeof tools === "string" ? JSON.stringify(probed) : probed;
      rendered = template.render({ messages: copy, tools: list.length > 0 ? given : tools });
    } catch {
      if (ids.length === 1) results[ids[0]!] = searchEncoding(probes[ids[0]!]!, plain);
      else {
        look(ids.slice(0, ids.length >> 1));
        look(ids.slice(ids.length >> 1));
      }
      return;
    }
    const { text, spans } = marks.read(rendered);
    const found = new Map<number, Encoding>();
    for (const { id, start, end } of spans) {
      const level: Encoding = /^\\{2,}"/.test(text.slice(start, end)) ? "twice" : "once";
      if (found.get(id) !== "twice") found.set(id, level);
    }
    for (const id of ids) {
      const probe = probes[id]!;
      const levels: Encoding[] = [];
      if (probe.kind === "tool" && probe.hasProperties) levels.push(found.get(second(id)) ?? "lost");
      if (levels.length === 0 || (probe.kind === "tool" && calledFunction(probe.tool).description))
        levels.push(found.get(id) ?? "lost");
      results[id] = (["twice", "lost"] as const).find((level) => levels.includes(level)) ?? "once";
    }
  };

  if (probes.length > 0) look([...probes.keys()]);
  return { calls: results.slice(0, calls.length), tools: results.slice(calls.length) };
}

function listCalls(messages: JsonObject[]): Call[] {
  return messages.flatMap(({ tool_calls }, message) =>
    (Array.isArray(tool_calls) ? tool_calls : []).map(
      (call, number): Call => ({
        kind: "call",
        message,
        number,
        arguments: isObject(call) ? calledFunction(call as JsonObject).arguments : undefined,
      }),
    ),
  );
}

function probeCalls(
  messages: JsonObject[],
  probes: (Call | Tool)[],
  ids: number[],
  probeOf: (id: number) => string,
): JsonObject[] {
  const copy = messages.slice();
  for (const id of ids) {
    const probe = probes[id]!;
    if (probe.kind !== "call") continue;
    const message = copy[probe.message]!;
    const calls = [...(message.tool_calls as JsonObject[])];
    const call = calls[probe.number]!;
    const named = calledFunction(call);
    calls[probe.number] = withFunction(call, { ...named, arguments: probeArguments(named.arguments, probeOf(id)) });
    copy[probe.message] = { ...message, tool_calls: calls };
  }
  return copy;
}

/** Arguments stay an object or a text; a text that is no JSON object gets the probe at its end. */
function probeArguments(given: Json | undefined, probe: string): Json {
  if (typeof given !== "string") return { ...(isObject(given) ? given : {}), [PROBE]: probe } as JsonObject;
  const value = given.trim() === "" ? {} : parseJson(given);
  const quoted = JSON.stringify(probe).slice(1, -1);
  return isObject(value) ? JSON.stringify({ ...value, [PROBE]: probe }) : given + quoted;
}

const PROBE = "a_probe";

function toolList(tools: TemplateRow["tools"]): JsonObject[] {
  const list = typeof tools === "string" ? parseJson(tools) : tools;
  return Array.isArray(list) ? (list.filter(isObject) as JsonObject[]) : [];
}

function parametersOf(tool: JsonObject): { value: JsonObject | undefined; isText: boolean } {
  const { parameters } = calledFunction(tool);
  const value = typeof parameters === "string" ? parseJson(parameters) : parameters;
  return { value: isObject(value) ? (value as JsonObject) : undefined, isText: typeof parameters === "string" };
}

function hasProperties(tool: JsonObject): boolean {
  const properties = parametersOf(tool).value?.properties;
  return isObject(properties) && Object.keys(properties).length > 0;
}

function probeTool(tool: JsonObject, probe: string, property: { name: string; description: string }): JsonObject {
  const named = calledFunction(tool);
  const { value, isText } = parametersOf(tool);
  const probed: JsonObject = { ...named, description: `${named.description ?? ""}${probe}` };
  if (value && hasProperties(tool)) {
    const more = { [property.name]: { type: "string", description: property.description } };
    const schema: JsonObject = { ...value, properties: { ...(value.properties as JsonObject), ...more } };
    probed.parameters = isText ? JSON.stringify(schema) : schema;
  }
  return withFunction(tool, probed);
}

/** For what cannot be probed: its own text in the rendering. */
function searchEncoding(probe: Call | Tool, plain: string): Encoding {
  const value = probe.kind === "call" ? probe.arguments : probe.tool;
  const texts = typeof value === "string" ? [value] : argumentForms(value ?? {});
  if (texts.some((text) => plain.includes(text))) return "once";
  return texts.flatMap((text) => formsOf(text).slice(1)).some((text) => plain.includes(text)) ? "twice" : "lost";
}

/** JSON as templates write it, and as JavaScript does. */
export function argumentForms(value: Json): string[] {
  return [dumps(wrap(value), {}), JSON.stringify(value)];
}
