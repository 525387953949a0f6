// Whether a model calls tools, how it calls them, and whether it takes their results.
import { type ChatMessage, isObject, parseJson, type ToolCall } from "../../core/index.ts";
import { ModelFailure } from "../failure.ts";
import { recoverTextCalls } from "../text-calls/recover.ts";
import { type Answer, type EndpointProbe, toolFormatOf, WEATHER, withResults } from "./endpoint.ts";
import { type Finding, quoteReplies } from "./finding.ts";
import { hintFor } from "./hints.ts";
import { describeFailure, inSamples, type Samples, takeSamples } from "./samples.ts";

const ONE: ChatMessage = { role: "user", content: "What is the weather in Paris? Use the tool get_weather." };
const TWO: ChatMessage = {
  role: "user",
  content: "What is the weather in Paris and in Oslo? Call get_weather once for each of them, both at once.",
};

const AS_TEXT =
  "or set tool_format: hermes for the agent, which writes tools and calls as text for models without function calling";

/** False if the model is unusable as an agent. */
export async function probeTools(probe: EndpointProbe): Promise<boolean> {
  const { findings } = probe;
  const one = await askForCalls(probe, ONE);
  const [first] = one.called;
  if (!first) {
    findings.push(one.failure ?? (await explainNoCalls(probe, one.samples)));
    return false;
  }
  if (first.asText) findings.push(await tellOfText(probe, one));
  const { dropped } = first.asText ? await countTools(probe, one.samples) : {};
  if (dropped) {
    const text = `its calls are guesses from the question, since it never sees a tool: ${dropped}`;
    findings.push({ level: "odd", text, hint: await hintFor(probe, "template") });
  }
  findings.push({
    level: one.called.length < count(one.samples) ? "odd" : "ok",
    text: `calls a tool${inSamples(one.called.length, one.samples)}`,
    said: quoteReplies(one.samples.answers.map(({ reply }) => reply)),
  });
  tellOfCalls(findings, first);
  const two = await askForCalls(probe, TWO);
  if (two.failure) {
    findings.push(two.failure);
    return false;
  }
  findings.push(judgeSeveral(two));
  const most = [...two.called].sort((a, b) => b.calls.length - a.calls.length)[0];
  tellOfIds(findings, [...one.called, ...two.called]);
  return await (most ? probeResults(probe, TWO, most) : probeResults(probe, ONE, first));
}

type Called = Answer & { calls: ToolCall[]; asText: boolean };
type Asked = { samples: Samples; called: Called[]; failure?: Finding };

async function askForCalls(probe: EndpointProbe, question: ChatMessage): Promise<Asked> {
  const samples = await takeSamples(probe, { messages: [question], tools: [WEATHER] });
  const called = samples.answers.flatMap((answer): Called[] => {
    const { toolCalls } = answer.reply;
    if (toolCalls.length > 0) return [{ ...answer, calls: toolCalls, asText: false }];
    const recovered = recoverTextCalls(answer.reply, [WEATHER]);
    return recovered.recovered ? [{ ...answer, reply: recovered, calls: recovered.toolCalls, asText: true }] : [];
  });
  called.sort((a, b) => Number(a.asText) - Number(b.asText));
  const [failure] = samples.failures;
  if (!failure || samples.answers.length > 0) return { samples, called };
  const text = failure.retryable ? describeFailure(failure) : failure.message;
  const refusal: Finding = { level: "bad", text: `refuses a request with tools: ${text}` };
  const isText = toolFormatOf(probe) !== "native" || failure.retryable;
  return { samples, called, failure: isText ? refusal : { ...refusal, hint: AS_TEXT } };
}

function count({ answers, failures }: Samples): number {
  return answers.length + failures.length;
}

/** A tool's description takes more tokens than this in every template. */
const LEAST_TOKENS = 10;

/** Tells a template that drops the tools from a model or a parser that makes no calls of them. */
async function explainNoCalls(probe: EndpointProbe, samples: Samples): Promise<Finding> {
  const said = quoteReplies(samples.answers.map(({ reply }) => reply));
  const format = toolFormatOf(probe);
  if (format !== "native") {
    const text = `writes no call in the format ${format} (tool_format) when asked to`;
    return { level: "bad", text, said, hint: "try another tool_format, or choose a larger model" };
  }
  const { before, after, dropped } = await countTools(probe, samples);
  const none = "does not call a tool when asked to";
  if (dropped)
    return {
      level: "bad",
      text: `${none}, since it never sees one: ${dropped}`,
      said,
      hint: `${await hintFor(probe, "template")}; ${AS_TEXT}`,
    };
  const seen =
    before > 0 && after > 0
      ? `, though the tools are in its prompt (${after} tokens with tools, ${before} without)`
      : "";
  return { level: "bad", text: `${none}${seen}`, said, hint: `${await hintFor(probe, "calls")}; ${AS_TEXT}` };
}

/** The tokens of the prompt without tools and with them; `dropped` says so if they are not in it. */
async function countTools(probe: EndpointProbe, samples: Samples) {
  const bare = await probe.ask({ messages: [ONE] });
  const before = bare instanceof ModelFailure ? 0 : bare.reply.usage.inputTokens;
  const after = samples.answers[0]?.reply.usage.inputTokens ?? 0;
  const tokens =
    before === after ? `${after} tokens with tools and without` : `${after} tokens with tools, ${before} without`;
  const isDropped = before > 0 && after > 0 && after - before < LEAST_TOKENS;
  return {
    before,
    after,
    dropped: isDropped ? `the prompt has ${tokens}, so the chat template drops them` : undefined,
  };
}

async function tellOfText(probe: EndpointProbe, { called, samples }: Asked): Promise<Finding> {
  const often = inSamples(called.filter(({ asText }) => asText).length, samples);
  if (probe.party.settings?.recoverTextCalls)
    return { level: "ok", text: `writes its tool calls as text${often}; recover_text_calls reads them` };
  return {
    level: "odd",
    text: `writes its tool calls as text${often}, since the server has no parser for them; they can be read from there`,
    hint: await hintFor(probe, "calls"),
    fix: { where: "agent", yaml: "recover_text_calls: true" },
  };
}

function judgeSeveral({ called, samples }: Asked): Finding {
  const several = called.filter(({ calls }) => calls.length > 1).length;
  const said = quoteReplies(samples.answers.map(({ reply }) => reply));
  if (several > 0) return { level: "ok", text: `calls several tools in one reply${inSamples(several, samples)}`, said };
  if (called.length === 0) return { level: "odd", text: "calls no tool when asked for two calls at once", said };
  return {
    level: "odd",
    text: "calls one tool at a time, also when asked for two at once: dialogues take more steps",
    said,
  };
}

function tellOfCalls(findings: Finding[], { calls, message }: Called): void {
  const [call] = calls;
  const given = isObject(call && parseJson(call.arguments));
  if (!given)
    findings.push({
      level: "odd",
      text: "writes arguments that are no JSON object; the model gets an error result then",
    });
  else if (call?.name !== WEATHER.name)
    findings.push({ level: "odd", text: `calls "${call?.name}", which is not the tool's name` });
  const raw = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  if (raw.some((one) => isObject(one.function) && isObject(one.function.arguments)))
    findings.push({ level: "odd", text: "sends arguments as an object instead of a text; understood" });
}

/** Across replies too: a dialogue needs ids that are its own. */
function tellOfIds(findings: Finding[], called: Called[]): void {
  const calls = called.flatMap(({ asText, calls: made }) => (asText ? [] : made));
  const ids = calls.map(({ id }) => id).filter((id) => id !== "");
  if (ids.length < calls.length)
    findings.push({ level: "odd", text: "gives tool calls no ids; unique ones are made, nothing to do" });
  if (new Set(ids).size < ids.length)
    findings.push({
      level: "odd",
      text: "repeats the ids of tool calls; unique ones are made, originals kept, nothing to do",
    });
}

async function probeResults(probe: EndpointProbe, question: ChatMessage, called: Called): Promise<boolean> {
  const { findings } = probe;
  const samples = await takeSamples(probe, { messages: withResults(question, called), tools: [WEATHER] });
  const { answers, failures } = samples;
  const [failure] = failures;
  if (failure && answers.length === 0) {
    findings.push({ level: "bad", text: `refuses the results of its tool calls: ${describeFailure(failure)}` });
    return false;
  }
  const replies = answers.map(({ reply }) => reply);
  const spoken = replies.filter(({ content, toolCalls }) => content.trim() !== "" || toolCalls.length > 0).length;
  findings.push(
    spoken > 0
      ? {
          level: "ok",
          text: `takes tool results and goes on${inSamples(spoken, samples)}`,
          said: quoteReplies(replies),
        }
      : { level: "odd", text: "answers tool results with an empty text" },
  );
  return true;
}
