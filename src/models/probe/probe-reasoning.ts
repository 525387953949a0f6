// Whether a model can be told to think, where its reasoning arrives, and whether the endpoint wants it back.
import { type ChatMessage, isObject } from "../../core/index.ts";
import { ModelFailure } from "../failure.ts";
import { THINKING_STYLES, type ThinkingStyle } from "../resolved.ts";
import { type Answer, type AskChanges, type EndpointProbe, WEATHER, withResults } from "./endpoint.ts";

const QUESTION: ChatMessage = {
  role: "user",
  content: "Think first: which city is the capital of France? Then look up its weather with get_weather.",
};
const PLAIN: ChatMessage = { role: "user", content: "Think first: how many days have seven weeks? Then answer." };

export async function probeReasoning(probe: EndpointProbe): Promise<void> {
  const { findings, model } = probe;
  const thought = await think(probe, {});
  if (thought instanceof ModelFailure) return findStyle(probe, thought);
  const { reply, message } = thought;
  if (reply.reasoning === undefined) {
    findings.push({
      level: "ok",
      text: `shows no reasoning (it is told to think in the style "${model.reasoning.style}")`,
    });
    return;
  }
  findings.push({ level: "ok", text: `reasons, and the reasoning arrives ${placeOf(message)}` });
  if (isInline(message))
    findings.push({
      level: "odd",
      text: "writes its reasoning into the text; it is split off, nothing to do (a vLLM server does it with --reasoning-parser NAME)",
    });
  await probeSendBack(probe, thought);
}

async function think(probe: EndpointProbe, changes: AskChanges): Promise<Answer | ModelFailure> {
  const request = probe.role === "agent" ? { messages: [QUESTION], tools: [WEATHER] } : { messages: [PLAIN] };
  return probe.ask(request, { ...changes, settings: { thinking: true } });
}

/** Looks for a style that the endpoint accepts. */
async function findStyle(probe: EndpointProbe, refusal: ModelFailure): Promise<void> {
  const { findings, model } = probe;
  const { style } = model.reasoning;
  if (refusal.kind !== "refused" || style === "none") {
    findings.push({ level: "odd", text: `did not answer when told to think: ${refusal.message}` });
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
    const thought = await think(probe, { reasoning: { style } });
    if (!(thought instanceof ModelFailure) && thought.reply.reasoning !== undefined) return style;
  }
  return undefined;
}

/** Sends the reply back with its reasoning as the habits say; if that is refused, the other way round. */
async function probeSendBack(probe: EndpointProbe, { reply }: Answer): Promise<void> {
  const { findings, model, ask } = probe;
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
  const answer = await ask(request, { settings });
  const habit = sendBack ? "sent back" : "not sent back";
  if (!(answer instanceof ModelFailure)) {
    findings.push({ level: "ok", text: `the dialogue continues with the reasoning ${habit}` });
    return;
  }
  const other = await ask(request, { settings, reasoning: { sendBack: !sendBack } });
  if (other instanceof ModelFailure)
    findings.push({ level: "bad", text: `refuses to go on after reasoning: ${answer.message}` });
  else
    findings.push({
      level: "odd",
      text: `refuses the dialogue with the reasoning ${habit}: ${answer.message}`,
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
