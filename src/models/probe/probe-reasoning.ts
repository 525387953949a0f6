// Whether a model can be told to think, where its reasoning arrives, and whether the endpoint wants it back.
import { type ChatMessage, isObject } from "../../core/index.ts";
import type { ModelFailure } from "../failure.ts";
import { THINKING_STYLES, type ThinkingStyle } from "../resolved.ts";
import { type Answer, type AskChanges, type EndpointProbe, WEATHER, withResults } from "./endpoint.ts";
import { quoteReplies } from "./finding.ts";
import { hintFor } from "./hints.ts";
import { describeFailure, inSamples, type Samples, takeSamples } from "./samples.ts";

const QUESTION: ChatMessage = {
  role: "user",
  content: "Think first: which city is the capital of France? Then look up its weather with get_weather.",
};
const PLAIN: ChatMessage = { role: "user", content: "Think first: how many days have seven weeks? Then answer." };

export async function probeReasoning(probe: EndpointProbe): Promise<void> {
  const { findings, model } = probe;
  const samples = await think(probe, {});
  const [failure] = samples.failures;
  if (failure && samples.answers.length === 0) return findStyle(probe, failure);
  const thoughts = samples.answers.filter(({ reply }) => reply.reasoning !== undefined);
  const [thought] = thoughts;
  if (!thought) {
    findings.push({
      level: "ok",
      text: `shows no reasoning (it is told to think in the style "${model.reasoning.style}")`,
    });
    return;
  }
  const { message } = thought;
  findings.push({
    level: "ok",
    text: `reasons${inSamples(thoughts.length, samples)}, and the reasoning arrives ${placeOf(message)}`,
    said: quoteReplies([{ ...thought.reply, content: "", toolCalls: [] }]),
  });
  if (isInline(message))
    findings.push({
      level: "odd",
      text: "writes its reasoning into the text; it is split off, nothing to do",
      hint: await hintFor(probe, "reasoning"),
    });
  await probeSendBack(probe, thought);
}

function think(probe: EndpointProbe, changes: AskChanges): Promise<Samples> {
  const request = probe.role === "agent" ? { messages: [QUESTION], tools: [WEATHER] } : { messages: [PLAIN] };
  return takeSamples(probe, request, { ...changes, settings: { thinking: true } });
}

/** Looks for a style that the endpoint accepts. */
async function findStyle(probe: EndpointProbe, refusal: ModelFailure): Promise<void> {
  const { findings, model } = probe;
  const { style } = model.reasoning;
  if (refusal.kind !== "refused" || style === "none") {
    findings.push({ level: "odd", text: `did not answer when told to think: ${describeFailure(refusal)}` });
    return;
  }
  const found = model.dialect === "openai" ? await styleThatWorks(probe, style) : undefined;
  findings.push({
    level: "odd",
    text: `refuses to be told to think in the style "${style}": ${refusal.message}`,
    fix: { where: "models", yaml: `reasoning: {style: ${found ?? "none"}}` },
  });
}

async function styleThatWorks(probe: EndpointProbe, refused: ThinkingStyle): Promise<ThinkingStyle | undefined> {
  for (const style of THINKING_STYLES) {
    if (style === refused || style === "none" || style === "anthropic") continue;
    const { answers } = await think(probe, { reasoning: { style } });
    if (answers.some(({ reply }) => reply.reasoning !== undefined)) return style;
  }
  return undefined;
}

/** Sends the reply back with its reasoning as the habits say; if that is refused, the other way round. */
async function probeSendBack(probe: EndpointProbe, { reply }: Answer): Promise<void> {
  const { findings, model } = probe;
  const { sendBack } = model.reasoning;
  const { content, reasoning, opaque } = reply;
  const said: ChatMessage = {
    role: "assistant",
    content,
    reasoning,
    opaque,
  };
  const calls = probe.role === "agent" ? reply.toolCalls : [];
  const request =
    calls.length > 0
      ? { messages: withResults(QUESTION, { reply, calls }), tools: [WEATHER] }
      : { messages: [PLAIN, said, { role: "user" as const, content: "Thank you. Answer with the single word: done" }] };
  const settings = { thinking: true };
  const samples = await takeSamples(probe, request, { settings });
  const { answers, failures } = samples;
  const habit = sendBack ? "sent back" : "not sent back";
  if (answers.length > 0) {
    const often = inSamples(answers.length, samples);
    findings.push({ level: "ok", text: `the dialogue continues with the reasoning ${habit}${often}` });
    return;
  }
  const why = failures[0] ? describeFailure(failures[0]) : "no answer";
  const other = await takeSamples(probe, request, { settings, reasoning: { sendBack: !sendBack } });
  if (other.answers.length === 0) findings.push({ level: "bad", text: `refuses to go on after reasoning: ${why}` });
  else
    findings.push({
      level: "odd",
      text: `refuses the dialogue with the reasoning ${habit}: ${why}`,
      fix: { where: "models", yaml: `reasoning: {send_back: ${!sendBack}}` },
    });
}

function placeOf(message: Record<string, unknown>): string {
  const field = ["reasoning_content", "reasoning", "reasoning_details"].find((name) => hasText(message[name]));
  if (field !== undefined) return `as ${field}`;
  return isInline(message) ? "inline" : "in parts of its own";
}

function isInline({ content }: Record<string, unknown>): boolean {
  return typeof content === "string" && content.includes("</think>");
}

function hasText(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isObject) : typeof value === "string" && value !== "";
}
