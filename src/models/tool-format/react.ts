// ReAct: Thought, Action, Action Input, Observation, Final Answer. Thoughts are the reasoning of a record; the final
// answer is what is said. A reply without any label is an answer.
import type { FormatFault, ToolSpec } from "../../core/index.ts";
import { type Place, placeCalls } from "../text-calls/find-calls.ts";
import type { Form } from "../text-calls/forms.ts";
import { readJsonAt } from "../text-calls/read-json.ts";
import type { TextFormat, TextReply } from "./format.ts";
import { readToolLines, toolLines } from "./tool-lines.ts";

const HEAD = "# Tools\n\nYou may use tools to do what is asked.";
const OPEN = "one on each line:\n\n";
const CLOSE = "\n\nWrite every reply in one of two ways.";

/** Between the last result and what the user says. */
const USER = "\n\nUser: ";

export const react: TextFormat = {
  describe: (tools) => `${HEAD} They are described here, ${OPEN}${toolLines(tools)}${CLOSE} To use a tool:

Thought: what you think about the next step
Action: the tool's name
Action Input: its arguments as one JSON object

End your reply there. The result comes to you as:

Observation: the result

Then think again, and use another tool or answer. To answer:

Thought: what you think about the answer
Final Answer: your whole answer`,
  write({ content, reasoning, toolCalls = [] }) {
    const thought = reasoning ? `Thought: ${reasoning}` : "";
    if (toolCalls.length === 0) return [thought, `Final Answer: ${content}`].filter(Boolean).join("\n");
    const actions = toolCalls.map(
      ({ name, arguments: text }) => `Action: ${name}\nAction Input: ${text.trim() === "" ? "{}" : text}`,
    );
    return [content, thought, ...actions].filter(Boolean).join("\n");
  },
  writeResults: (results, said) =>
    results.map((result) => `Observation: ${result}`).join("\n") + (said === undefined ? "" : `${USER}${said}`),
  read,
  hasThoughts: true,
  toolsOff: "No tool can be used now. Reply with a Final Answer, without an Action.",
  stop: ["\nObservation:"],
  readTools: (system) => readToolLines(system, { head: HEAD, open: OPEN, close: CLOSE }),
  readResults(text, count) {
    if (!text.startsWith("Observation: ")) return { results: [], rest: text };
    const [, observed = "", rest = ""] = /^Observation: ([\s\S]*?)(?:\n\nUser: ([\s\S]*))?$/.exec(text) ?? [];
    const pieces = observed.split("\nObservation: ");
    return { results: [...pieces.slice(0, count - 1), pieces.slice(count - 1).join("\nObservation: ")], rest };
  },
};

/** A label at the start of a line, as models write it: with or without stars, in any case. */
function label(name: string): string {
  return `^[ \\t]*(?:#+[ \\t]*)?\\**${name}\\**[ \\t]*:\\**[ \\t]*`;
}

const ACTION = new RegExp(`${label("Action")}(.*?)(?=[ \\t]*Action Input[ \\t]*:|$)`, "gim");
const INPUT = new RegExp(`\\s*${label("Action Input").slice(1)}`, "iy");
const NEXT = new RegExp(`\\n${label("(?:Thought|Action|Observation|Final Answer)").slice(1)}`, "ig");
const FENCED = new RegExp(`${label("Action Input")}\\s*\`\`\``, "im");
const RESULT = new RegExp(label("Observation"), "gim");
const ANSWER = new RegExp(label("Final Answer"), "im");
const THOUGHT = new RegExp(label("Thought"), "im");

/** What models write where they take none. */
const NO_ACTION = /^(?:none|n\/a|no action.*|final answer|finish)$/i;

/** What follows an action is dropped: the model has not seen its result. */
function read(text: string, tools: readonly ToolSpec[]): TextReply {
  const all = placeCalls(text, FORM, tools);
  const cut = findResult(text, all) ?? text.length;
  const places = all.filter(({ end }) => end <= cut);
  const answer = ANSWER.exec(text.slice(0, places[0]?.start ?? cut));
  if (answer) {
    // the last word, whatever is in it
    const { said, thought } = splitThought(text.slice(0, answer.index));
    const content = text.slice(answer.index + answer[0].length).trim();
    return { content: [said, content].filter(Boolean).join("\n"), ...thought, calls: [], faults: [] };
  }
  const kept = text.slice(0, cut);
  const faults: FormatFault[] = cut < text.length ? [{ type: "made_up_result", content: text.slice(cut) }] : [];
  if (places.length === 0) {
    const { said, thought } = splitThought(kept);
    if (thought.reasoning === undefined) return { content: said, calls: [], faults };
    return {
      content: [said, thought.reasoning].filter(Boolean).join("\n"),
      calls: [],
      faults: [...faults, UNANSWERED],
    };
  }
  const { said, thought } = splitThought(kept.slice(0, places[0]?.start));
  const thoughts = [thought.reasoning];
  const dropped: string[] = [];
  for (const [index, { end }] of places.entries()) {
    const next = places[index + 1];
    const gap = splitThought(kept.slice(end, next?.start).replace(/^\s*```/, ""));
    if (next) thoughts.push(gap.thought.reasoning);
    dropped.push(...[gap.said, next ? undefined : gap.thought.reasoning].filter((part) => part !== undefined));
  }
  const after = dropped.filter(Boolean).join("\n");
  if (after !== "") faults.push({ type: "text_after_call", content: after });
  if (places.some(({ start, end }) => FENCED.test(kept.slice(start, end)))) faults.push({ type: "fenced_call" });
  const reasoning = thoughts.filter(Boolean).join("\n");
  const calls = places.flatMap((place) => place.calls);
  return { content: said, ...(reasoning && { reasoning }), calls, faults };
}

const UNANSWERED: FormatFault = { type: "no_final_answer" };

function splitThought(text: string): { said: string; thought: { reasoning?: string } } {
  const match = THOUGHT.exec(text);
  if (!match) return { said: text.trim(), thought: {} };
  const reasoning = text.slice(match.index + match[0].length).trim();
  return { said: text.slice(0, match.index).trim(), thought: reasoning === "" ? {} : { reasoning } };
}

/** Where an observation begins that no tool made. */
function findResult(text: string, places: readonly Place[]): number | undefined {
  for (const { index } of text.matchAll(RESULT))
    if (!places.some(({ start, end }) => start < index && index < end)) return index;
  return undefined;
}

const FORM: Form = {
  opens: ACTION,
  read({ text, match, at, tools }) {
    const name = (match[1] ?? "").replace(/^[`"'*[\s]+|[`"'*\]\s.]+$/g, "");
    if (NO_ACTION.test(name) && !tools.some((tool) => tool.name === name)) return undefined;
    INPUT.lastIndex = at;
    const input = INPUT.exec(text);
    if (!input) return name === "" ? undefined : { calls: [{ id: "", name, arguments: "" }], end: at };
    const from = INPUT.lastIndex;
    const fence = /^\s*```[\w-]*[ \t]*\n?/.exec(text.slice(from, from + 50))?.[0].length ?? 0;
    const json = readJsonAt(text, from + fence);
    if (json) return { calls: [{ id: "", name, arguments: text.slice(from + fence, json.end).trim() }], end: json.end };
    NEXT.lastIndex = from;
    const end = NEXT.exec(text)?.index ?? text.length;
    const raw = text.slice(from + fence, end).trim();
    return { calls: [{ id: "", name, arguments: fence > 0 ? raw.replace(/\s*```$/, "") : raw }], end };
  },
};
