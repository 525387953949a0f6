// Models that play a query from its reference plan, without a key or a network: the embedded default. They look only at
// the request, like any model, so they can run behind a socket or start in the middle of a dialogue.
import {
  type ChatMessage,
  fillPlaceholders,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  type PlayedCall,
  writeExact,
} from "../../core/index.ts";
import { playInText } from "../tool-format/play-in-text.ts";
import { type PerformedCall, type PerformedTurn, perform } from "./performance.ts";
import { findProgress, takeRequest, writeSummary } from "./progress.ts";
import { answerRefusal, performRefusal } from "./refusal.ts";
import { estimateUsage, type PlanFor, parseScriptedName, type Script, scriptFor } from "./script.ts";

export function createScriptedClient(name: string, planFor: PlanFor): ModelClient {
  const { role, skill } = parseScriptedName(name);
  const reply = {
    agent: (request: ModelRequest) => agentReply(request, scriptFor(planFor, request), skill),
    user: (request: ModelRequest) => userReply(request, scriptFor(planFor, request)),
    judge: judgeReply,
  }[role];
  const play = async (request: ModelRequest) => reply(request);
  return {
    id: name,
    complete: (request) => playInText(request, (read) => play(read === request ? read : withReadOnly(read, planFor))),
  };
}

const THE_END = "That's all, thank you. ###STOP###";
const LOST_THE_THREAD = "I'm sorry, I don't have what I need for that at the moment.";

/** A text does not say which tools only read; the script knows. */
function withReadOnly(request: ModelRequest, planFor: PlanFor): ModelRequest {
  const isReadOnly = planFor(request)?.isReadOnly;
  if (!isReadOnly) return request;
  return { ...request, tools: request.tools.map((tool) => ({ ...tool, readOnly: isReadOnly(tool.name) })) };
}

function agentReply(given: ModelRequest, script: Script, skill: number): ModelReply {
  const { messages, asked } = takeRequest(given.messages);
  const request = { ...given, messages: [...messages] };
  const { origin, tools } = request;
  const isPositive = origin.mode === "positive";
  const options = { skill, seed: origin.seed, tools, wireName: script.wireName };
  const { turns } = isPositive ? perform(script.plan, options) : performRefusal(options);
  const progress = findProgress(messages);
  const { turn: turnNumber, step: stepNumber } = progress;
  const played = [...progress.kept, ...listPlayedCalls(messages, script, turns)];
  if (asked === "summary") return say(request, writeSummary(progress, played, script));
  // a refusal stays what it is, however long the user insists
  const turn: PerformedTurn | undefined = turns[turnNumber] ?? (isPositive ? undefined : turns.at(-1));
  if (!turn) return say(request, "Is there anything else that you need?");
  const step = turn.steps[stepNumber];
  if (!step || request.toolChoice === "none") return say(request, fillText(turn.say, played), turn.think);
  const toolCalls = step.calls.map((call, index) => ({
    id: `call_${turnNumber}_${stepNumber}_${index}${call.slip ? SLIP : ""}`,
    name: isPositive ? script.wireName(call.name) : call.name,
    arguments: argumentsText(call, played),
  }));
  const content = fillText(step.text ?? "", played);
  const written = content + (step.think ?? "") + toolCalls.map((call) => call.name + call.arguments).join("");
  return {
    content,
    reasoning: step.think || undefined,
    toolCalls,
    usage: estimateUsage(request, written),
    finish: "tool-calls",
  };
}

/**
 * Makes the plan's next calls with its own tools, then says the plan's next line, no matter what the agent said: a script cannot listen. In negative modes only its first
 * words are the plan's.
 */
function userReply(request: ModelRequest, script: Script): ModelReply {
  const { messages, origin } = request;
  const isCall = (message: ChatMessage) => message.role === "assistant" && message.toolCalls !== undefined;
  const said = messages.filter((message) => message.role === "assistant" && !isCall(message)).length;
  if (origin.mode !== "positive" && said > 0) return say(request, answerRefusal(messages, origin.seed));
  const { user_calls: calls = [], user = THE_END } = script.plan[said] ?? {};
  const played = listPlayedCalls(messages, script);
  const made = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1).filter(isCall).length;
  if (made >= calls.length || request.toolChoice === "none") return say(request, fillPlaceholders(user, played));
  const { name, arguments: args } = calls[made] as PerformedCall;
  const call = { name: script.wireName(name), arguments: argumentsText({ name, arguments: args }, played) };
  const toolCalls = [{ id: `user_${said}_${made}`, ...call }];
  return { content: "", toolCalls, usage: estimateUsage(request, call.arguments), finish: "tool-calls" };
}

/** A judge by one plain rule: the agent asked nothing in its last message. */
function judgeReply(request: ModelRequest): ModelReply {
  const lastAgentText = request.messages.at(-1)?.content.split("\n\nAgent: ").at(-1) ?? "";
  const stop = !lastAgentText.includes("?");
  const reason = stop ? "the agent asked nothing more" : "a question waits for an answer";
  return say(request, JSON.stringify({ stop, reason }));
}

const SLIP = "x";

/** In text formats calls have no ids: there a slip is known by its place in the performance. */
function listPlayedCalls(
  messages: readonly ChatMessage[],
  script: Script,
  turns: readonly PerformedTurn[] = [],
): PlayedCall[] {
  const played: PlayedCall[] = [];
  // a summary, which may be the first message, says where it was written
  const start = findProgress(messages.slice(0, 1));
  let [turn, step, call] = [start.turn, start.step - 1, -1];
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") [step, call] = [step + 1, -1];
    else if (message.role === "user") [turn, step] = index === 0 ? [turn, step] : [turn + 1, -1];
    else {
      call++;
      const isSlip = message.callId.endsWith(SLIP) || turns[turn]?.steps[step]?.calls[call]?.slip;
      if (!isSlip) played.push({ name: script.planName(message.name), content: message.content });
    }
  }
  return played;
}

/** If an earlier call went wrong, what this text should report is missing. */
function fillText(text: string, played: PlayedCall[]): string {
  const filled = fillPlaceholders(text, played);
  return UNFILLED.test(filled) ? LOST_THE_THREAD : filled;
}

/** A value that was never looked up is made up, as a poor model would do. */
function argumentsText(call: PerformedCall, played: PlayedCall[]): string {
  const text = writeExact(fillPlaceholders(call.arguments, played)).replace(EACH_UNFILLED, "unknown");
  if (!call.cut) return text;
  return text.length > 4 ? text.slice(0, -2) : "{";
}

const UNFILLED = /\{\{[^{}]+\}\}/;
const EACH_UNFILLED = /\{\{[^{}]+\}\}/g;

function say(request: ModelRequest, content: string, reasoning?: string): ModelReply {
  return {
    content,
    reasoning: reasoning || undefined,
    toolCalls: [],
    usage: estimateUsage(request, content + (reasoning ?? "")),
    finish: "stop",
  };
}
