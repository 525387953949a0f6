// Asks a model what a rollout will ask of it (an answer, a tool call, several at once, sending back their results,
// reasoning) and says in plain words what works, what is odd, and which line of YAML fixes it.
import { type ChatMessage, hideLogin, isObject, parseJson, type ToolCall } from "../../core/index.ts";
import { ModelFailure } from "../failure.ts";
import type { ResolvedModel } from "../resolved.ts";
import { recoverTextCalls } from "../text-calls/recover.ts";
import {
  type Answer,
  type EndpointProbe,
  type Finding,
  openProbe,
  type ProbeDeps,
  WEATHER,
  withResults,
} from "./endpoint.ts";
import { probeReasoning } from "./probe-reasoning.ts";

export type ProbeReport = { endpoint: string; findings: Finding[] };

/** Every replica is probed separately. A user simulator needs no tools. */
export async function probeModel(
  model: ResolvedModel,
  role: "agent" | "user",
  deps: ProbeDeps,
): Promise<ProbeReport[]> {
  return Promise.all(
    model.baseUrls.map(async (baseUrl) => {
      const probe = openProbe({ ...model, baseUrls: [baseUrl] }, role, deps);
      try {
        await probeEndpoint(probe);
        return { endpoint: hideLogin(baseUrl), findings: probe.findings };
      } finally {
        await probe.close();
      }
    }),
  );
}

async function probeEndpoint(probe: EndpointProbe): Promise<void> {
  if (!(await probeAnswer(probe))) return;
  const calls = probe.role === "agent" ? await probeTools(probe) : undefined;
  if (probe.role === "agent" && !calls) return;
  await probeReasoning(probe);
}

async function probeAnswer({ ask, findings, role }: EndpointProbe): Promise<boolean> {
  const answer = await ask({ messages: [{ role: "user", content: "Answer with the single word: ready" }] });
  if (answer instanceof ModelFailure) {
    findings.push({ level: "bad", text: answer.message });
    return false;
  }
  const { reply } = answer;
  if (reply.content.trim() !== "") findings.push({ level: "ok", text: "answers" });
  else if (reply.finish === "length")
    findings.push({
      level: "bad",
      text: "the answer is cut before it says anything: the limit on its length is too low",
      fix: { where: role, yaml: "max_tokens: 4096" },
    });
  else findings.push({ level: "odd", text: "answers with an empty text" });
  if (reply.usage.inputTokens === 0)
    findings.push({
      level: "odd",
      text: "counts no tokens: usage, costs and budgets in tokens or dollars will say zero; limit rollouts by time instead",
      fix: { where: "config", yaml: "max_rollout_seconds: 600" },
    });
  return true;
}

const ONE: ChatMessage = { role: "user", content: "What is the weather in Paris? Use the tool get_weather." };
const TWO: ChatMessage = {
  role: "user",
  content: "What is the weather in Paris and in Oslo? Call get_weather once for each of them, both at once.",
};

/** The calls of the last reply, or undefined if the model is unusable as an agent. */
async function probeTools(probe: EndpointProbe): Promise<ToolCall[] | undefined> {
  const { findings } = probe;
  const one = await askForCalls(probe, ONE);
  if (!one) return undefined;
  findings.push({ level: "ok", text: "calls a tool" });
  tellOfCalls(findings, one);
  const two = await askForCalls(probe, TWO);
  if (!two) return undefined;
  if (two.calls.length > 1) findings.push({ level: "ok", text: "calls several tools in one reply" });
  else
    findings.push({
      level: "odd",
      text: "calls one tool at a time, also when asked for two at once: dialogues take more steps",
    });
  tellOfIds(findings, one.calls, two.calls);
  return (await probeResults(probe, TWO, two)) ? two.calls : undefined;
}

type Called = Answer & { calls: ToolCall[] };

async function askForCalls(probe: EndpointProbe, question: ChatMessage): Promise<Called | undefined> {
  const { findings, ask } = probe;
  const answer = await ask({ messages: [question], tools: [WEATHER] });
  if (answer instanceof ModelFailure) {
    findings.push({ level: "bad", text: `refuses a request with tools: ${answer.message}` });
    return undefined;
  }
  const { toolCalls } = answer.reply;
  if (toolCalls.length > 0) return { ...answer, calls: toolCalls };
  const recovered = recoverTextCalls(answer.reply, [WEATHER]);
  if (!recovered.recovered) {
    findings.push({
      level: "bad",
      text: "does not call a tool when asked to. A vLLM or SGLang server needs a tool-call parser (--enable-auto-tool-choice --tool-call-parser NAME)",
    });
    return undefined;
  }
  tellOnce(findings, {
    level: "odd",
    text: "writes its tool calls as text, since the server has no parser for them; they can be read from there",
    fix: { where: "agent", yaml: "recover_text_calls: true" },
  });
  return { ...answer, reply: recovered, calls: recovered.toolCalls };
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

function tellOfIds(findings: Finding[], first: ToolCall[], second: ToolCall[]): void {
  const ids = [...first, ...second].map(({ id }) => id).filter((id) => id !== "");
  if (ids.length < first.length + second.length)
    findings.push({ level: "odd", text: "gives tool calls no ids; unique ones are made, nothing to do" });
  if (new Set(ids).size < ids.length)
    findings.push({
      level: "odd",
      text: "repeats the ids of tool calls; unique ones are made, originals kept, nothing to do",
    });
}

async function probeResults(probe: EndpointProbe, question: ChatMessage, called: Called): Promise<boolean> {
  const { findings, ask } = probe;
  const answer = await ask({ messages: withResults(question, called), tools: [WEATHER] });
  if (answer instanceof ModelFailure) {
    findings.push({ level: "bad", text: `refuses the results of its tool calls: ${answer.message}` });
    return false;
  }
  const said = answer.reply.content.trim() !== "" || answer.reply.toolCalls.length > 0;
  findings.push(
    said
      ? { level: "ok", text: "takes tool results and goes on" }
      : { level: "odd", text: "answers tool results with an empty text" },
  );
  return true;
}

function tellOnce(findings: Finding[], finding: Finding): void {
  if (!findings.some(({ text }) => text === finding.text)) findings.push(finding);
}
