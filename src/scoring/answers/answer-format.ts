// How an agent marks its answer: one entry for each format, with how the answer is read from a reply, the sentence that
// tells the agent, and an answer marked that way. Of several marked answers, the last one counts.
import { isObject, parseExact, writeExact } from "../../core/index.ts";

type AnswerFormat = {
  /** the marked answer; empty if none is marked */
  read(text: string): string;
  /** for the system prompt */
  sentence: string;
  mark(answer: string): string;
};

/** What an agent gives as its answer. Without a format: what it marks in a usual way, else the whole reply. */
export function readAnswer(text: string, format?: string): string {
  const said = afterThoughts(text);
  if (format !== undefined) return formatOf(format).read(said);
  return readTag(said) || readBoxed(said) || readLabelled(said) || said.trim();
}

/** Tells the agent how to mark its answer. */
export function describeAnswerFormat(format = "answer-tag"): string {
  return formatOf(format).sentence;
}

/** An answer as an agent that follows the format gives it; as it is where there is none. */
export function markAnswer(answer: string, format?: string): string {
  return format === undefined ? answer : formatOf(format).mark(answer);
}

/** A plan may have tagged its answer, for people who read it. */
const TAGGED = /<answer>([\s\S]*?)<\/answer>/;

/** What a plan says with its answer marked in the format: the part that is tagged, else the whole. */
export function markSaid(said: string, format: string): string {
  const [tagged, answer] = TAGGED.exec(said) ?? [];
  if (tagged === undefined || answer === undefined) return markAnswer(said, format);
  const again = markAnswer(answer, format);
  return format === "whole" ? again : said.replace(tagged, () => again);
}

const JSON_FIELD = /^json:(.+)$/s;

function formatOf(format: string): AnswerFormat {
  const field = JSON_FIELD.exec(format)?.[1];
  const known = field === undefined ? FORMATS[format] : jsonFormat(field);
  if (!known) throw new Error(`there is no answer format ${format}`);
  return known;
}

const FORMATS: { [name: string]: AnswerFormat } = {
  "answer-tag": {
    read: readTag,
    sentence: "Give your final answer, and nothing else, inside <answer> and </answer>.",
    mark: (answer) => `<answer>${answer}</answer>`,
  },
  boxed: {
    read: readBoxed,
    sentence: "Give your final answer, and nothing else, inside \\boxed{}.",
    mark: (answer) => `\\boxed{${answer}}`,
  },
  "last-line": {
    read: readLastLine,
    sentence: "Give your final answer, and nothing else, on the last line of your reply.",
    mark: (answer) => answer.replace(/\s*\n\s*/g, " "),
  },
  whole: {
    read: (text) => text.trim(),
    sentence: "Your whole reply counts as the answer: reply with the final answer and nothing else.",
    mark: (answer) => answer,
  },
};

function jsonFormat(field: string): AnswerFormat {
  const name = JSON.stringify(field);
  return {
    read: (text) => readField(text, field),
    sentence: `End your reply with a JSON object that has your final answer, and nothing else, in its field ${name}.`,
    mark: (answer) => JSON.stringify({ [field]: answer }),
  };
}

/** Some servers leave the thoughts in the reply. */
function afterThoughts(text: string): string {
  const end = text.lastIndexOf("</think>");
  return end === -1 ? text : text.slice(end + "</think>".length);
}

const TAG = /(?<!`)<(\/?)answer\b[^<>]*>/gi;

/** A tag that is not closed holds the rest, unless a closed one came before and it stands within a line. */
function readTag(text: string): string {
  let found = "";
  let open: { at: number; end: number } | undefined;
  for (const { 0: tag, 1: slash, index } of text.matchAll(TAG)) {
    if (slash === "") open = { at: index, end: index + tag.length };
    else if (open) {
      found = text.slice(open.end, index).trim() || found;
      open = undefined;
    }
  }
  const isMention = open && found !== "" && /\S[^\S\n]*$/.test(text.slice(Math.max(0, open.at - 200), open.at));
  return open && !isMention ? text.slice(open.end).trim() || found : found;
}

/** Braces inside are counted; a box that is not closed holds the rest of its line. */
function readBoxed(text: string): string {
  const starts = [...text.matchAll(/\\f?boxed\s*\{/g)].map(({ 0: opening, index }) => index + opening.length);
  for (const start of starts.reverse()) {
    const end = closingBrace(text, start);
    const content =
      end === -1 ? (text.slice(start).split("\n", 1)[0] ?? "").replace(/\$+\s*$/, "") : text.slice(start, end);
    if (content.trim() !== "") return content.trim();
  }
  return "";
}

function closingBrace(text: string, from: number): number {
  for (let at = from, depth = 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

/** `Answer: 15`, `**Final answer:** 15`, `### Answer` with the answer below it, `答案：15`. */
const LABEL =
  /^[^\p{L}\p{N}\n]*(?:(?:so|thus|therefore|hence|and|the|my|our|final|short|correct),?\s+){0,5}answer(?:\s+is)?[\s*_]*[:：]|^[^\p{L}\p{N}\n]*(?:最终|最后的?|正确)?(?:答案|回答)(?:是|为)?[\s*_]*[:：]|^[#*_ \t]+(?:final\s+)?answer[#*_ \t]*$|^[#*_ \t]+(?:最终)?答案[#*_ \t]*$/iu;

/** how much of a line may be its label */
const MAX_LABEL = 100;

function readLabelled(text: string): string {
  const lines = text.split(/\r?\n/);
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] as string;
    const label = LABEL.exec(line.slice(0, MAX_LABEL))?.[0];
    if (label === undefined) continue;
    const answer = withoutEmphasis(line.slice(label.length)) || withoutEmphasis(paragraphAfter(lines, at + 1));
    if (answer !== "") return answer;
  }
  return "";
}

/** how many lines below a label may be the answer */
const MAX_LINES = 100;

function paragraphAfter(lines: readonly string[], from: number): string {
  const below = lines.slice(from, from + MAX_LINES);
  const first = below.findIndex((line) => line.trim() !== "");
  const end = below.findIndex((line, index) => index > first && line.trim() === "");
  return first === -1 ? "" : below.slice(first, end === -1 ? undefined : end).join("\n");
}

function withoutEmphasis(text: string): string {
  const bare = text.trim().replace(/^(?:[*_]+(?=\s|$)\s*)+/, "");
  const whole = /^(\*\*|__|\*|_|`)(?!\1)([\s\S]+?)\1([.。]?)$/.exec(bare);
  if (whole) return `${whole[2]}${whole[3]}`.trim();
  const marks = (bare.match(/\*\*/g) ?? []).length;
  return (marks % 2 === 1 ? bare.replace(/\*\*([.。]?)$/, "$1").replace(/^\*\*/, "") : bare).trim();
}

/** Without a label such as `Answer:`, and past a closing fence or a rule. */
function readLastLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const last = lines.findLast((line) => line !== "" && !/^(?:`{3,}\w*|[-*_=]{3,})$/.test(line)) ?? "";
  return readLabelled(last) || withoutEmphasis(last);
}

/** Of the last object that has it; `a.b` is the field `b` of `a` where no field has that name. */
function readField(text: string, field: string): string {
  const value = objectsIn(text)
    .map((object) => fieldOf(object, field))
    .findLast((own) => own !== undefined);
  return value === undefined ? "" : (typeof value === "string" ? value : writeExact(value)).trim();
}

function fieldOf(object: unknown, field: string): unknown {
  if (!isObject(object)) return undefined;
  if (Object.hasOwn(object, field)) return object[field] ?? undefined;
  const [first = "", ...rest] = field.split(".");
  return rest.length > 0 && Object.hasOwn(object, first) ? fieldOf(object[first], rest.join(".")) : undefined;
}

/** how many characters may be looked at for ends of objects: a reply of nothing but braces is no reason to wait */
const MAX_LOOKED_AT = 2_000_000;

/** The outermost JSON objects of a text, in fences or not. */
function objectsIn(text: string): unknown[] {
  const objects: unknown[] = [];
  let left = MAX_LOOKED_AT;
  for (let at = text.indexOf("{"); at !== -1 && left > 0; ) {
    const end = endOfObject(text, at);
    left -= (end === -1 ? text.length : end) - at;
    const object = end === -1 ? undefined : parseObject(text.slice(at, end));
    if (object !== undefined) objects.push(object);
    at = text.indexOf("{", object === undefined ? at + 1 : end);
  }
  return objects;
}

function parseObject(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Braces in texts do not count. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let inText = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (inText) {
      if (character === "\\") at++;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  return -1;
}
