// What a model sees and learns of one row behind a chat template: what is rendered, how it is encoded, what enters the loss.
import { type JsonObject, messageOf } from "../../core/index.ts";
import { findLearnt, type Learnt, noLearnt } from "./learnt.ts";
import type { ChatTemplate } from "./load-template.ts";
import { type Located, locate } from "./locate.ts";
import { type Encoding, probeEncodings } from "./probes.ts";
import type { TemplateRow } from "./row-parts.ts";

export type { TemplateRow } from "./row-parts.ts";

type Rendered = { recorded: number; rendered: number };

export type Inspection = {
  /** the template refused the row: its words */
  raised?: string;
  reasoning: Rendered;
  trainedReasoning: Rendered;
  /** non-empty contents of all messages */
  texts: Rendered;
  calls: { recorded: number; once: number; twice: number; lost: number };
  tools: { offered: number; readable: number; escaped: number; lost: number };
  /** the rendered text in the loss, by kind; markup is the rest of trained messages, empty if their bounds are unknown */
  learnt: Learnt;
};

export function inspectRow(given: ChatTemplate, row: TemplateRow): Inspection {
  const template = row.variables ? withVariables(given, row.variables) : given;
  let plain: string;
  try {
    plain = template.render({ messages: row.messages, tools: row.tools });
  } catch (error) {
    return { raised: messageOf(error), ...judge([], row, { calls: [], tools: [] }), learnt: noLearnt() };
  }
  const located = locate(template, row, plain);
  return {
    ...judge(located.parts, row, probeEncodings(template, row, plain)),
    learnt: findLearnt(template, row, plain, located),
  };
}

const bound = new WeakMap<ChatTemplate, Map<string, ChatTemplate>>();

function withVariables(template: ChatTemplate, variables: JsonObject): ChatTemplate {
  const known = bound.get(template) ?? new Map<string, ChatTemplate>();
  bound.set(template, known);
  const key = JSON.stringify(variables);
  const made = known.get(key) ?? { ...template, render: (input) => template.render({ ...variables, ...input }) };
  known.set(key, made);
  return made;
}

function judge(
  parts: Located["parts"],
  row: TemplateRow,
  { calls, tools }: { calls: Encoding[]; tools: Encoding[] },
): Omit<Inspection, "raised" | "learnt"> {
  const reasoning = mergeCopies(parts.filter(({ kind }) => kind === "reasoning"));
  const count = (list: Encoding[], level: Encoding) => list.filter((one) => one === level).length;
  return {
    reasoning: tally(reasoning),
    trainedReasoning: tally(reasoning.filter(({ message }) => row.loss[message])),
    texts: tally(parts.filter(({ kind }) => kind === "text")),
    calls: {
      recorded: calls.length,
      once: count(calls, "once"),
      twice: count(calls, "twice"),
      lost: count(calls, "lost"),
    },
    tools: {
      offered: tools.length,
      readable: count(tools, "once"),
      escaped: count(tools, "twice"),
      lost: count(tools, "lost"),
    },
  };
}

function tally(parts: Located["parts"]): Rendered {
  return { recorded: parts.length, rendered: parts.filter(({ spans }) => spans.length > 0).length };
}

/** Loaders may give a message's reasoning under several names; it is one block, rendered if any copy is. */
function mergeCopies(parts: Located["parts"]): Located["parts"] {
  const blocks = new Map<string, Located["parts"][number]>();
  for (const part of parts) {
    const key = `${part.message} ${part.text}`;
    const spans = [...(blocks.get(key)?.spans ?? []), ...part.spans];
    blocks.set(key, { ...part, spans });
  }
  return [...blocks.values()];
}
