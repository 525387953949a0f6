// Asks a model what a rollout will ask of it (an answer, a tool call, several at once, sending back their results,
// reasoning) and says in plain words what works, what is odd, and which line of YAML fixes it.
import { type ChatMessage, hideLogin } from "../../core/index.ts";
import type { ModelFailure } from "../failure.ts";
import { acceptedSettings } from "../refusals.ts";
import type { ResolvedModel } from "../resolved.ts";
import { correctBase } from "./correct-base.ts";
import { type EndpointProbe, isCutBare, openProbe, type ProbeDeps, type ProbeRole } from "./endpoint.ts";
import { type Finding, quoteReplies } from "./finding.ts";
import { probeReasoning } from "./probe-reasoning.ts";
import { probeTools } from "./probe-tools.ts";
import { describeFailure, inSamples, type Samples, takeSamples } from "./samples.ts";

export type ProbeReport = { endpoint: string; findings: Finding[] };

/** Every replica is probed separately. A user simulator needs no tools. */
export async function probeModel(model: ResolvedModel, role: ProbeRole, deps: ProbeDeps): Promise<ProbeReport[]> {
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
  const { leftOut } = acceptedSettings(probe.model, probe.party.settings ?? {});
  for (const text of leftOut) probe.findings.push({ level: "odd", text });
  if (!(await probeAnswer(probe))) return;
  const usable = probe.role !== "agent" || (await probeTools(probe));
  if (usable) await probeReasoning(probe);
}

const READY: ChatMessage = { role: "user", content: "Answer with the single word: ready" };

async function probeAnswer(probe: EndpointProbe): Promise<boolean> {
  const { findings } = probe;
  let samples = await takeSamples(probe, { messages: [READY] });
  for (const mend of [correctBase, dropSettings])
    if (samples.answers.length === 0 && (await mend(probe, samples.failures[0])))
      samples = await takeSamples(probe, { messages: [READY] });
  const { answers, failures } = samples;
  const [failure] = failures;
  if (failure) {
    const [level, often] =
      answers.length === 0 ? ["bad" as const, ""] : ["odd" as const, inSamples(failures.length, samples)];
    const tried = answers.length === 0 && failures.length > 1 ? ` (${failures.length} samples)` : often;
    findings.push({ level, text: `${describeFailure(failure)}${tried}` });
  }
  if (answers.length === 0) return false;
  findings.push(judgeAnswers(samples, probe));
  if (answers.every(({ reply }) => reply.usage.inputTokens === 0))
    findings.push({
      level: "odd",
      text: "counts no tokens: usage, costs and budgets in tokens or dollars will say zero; limit rollouts by time instead",
      fix: { where: "config", yaml: "max_rollout_seconds: 600" },
    });
  return true;
}

/** A setting that is refused is told of, and the rest is found out without any. */
async function dropSettings(probe: EndpointProbe, failure: ModelFailure | undefined): Promise<boolean> {
  if (!failure?.wrongSetting) return false;
  const { party, model, findings } = probe;
  findings.push({ level: "bad", text: `${failure.message}. The rest was asked without your settings` });
  probe.party = { ...party, settings: {} };
  probe.model = { ...model, body: {} };
  return true;
}

function judgeAnswers(samples: Samples, { role }: EndpointProbe): Finding {
  const replies = samples.answers.map(({ reply }) => reply);
  const said = quoteReplies(replies);
  const spoken = replies.filter(({ content }) => content.trim() !== "").length;
  if (spoken > 0) return { level: "ok", text: `answers${inSamples(spoken, samples)}`, said };
  if (replies.some(isCutBare))
    return {
      level: "bad",
      text: "the answer is cut before it says anything: the limit on its length is too low",
      said,
      fix: { where: role === "judge" || role === "summary" ? "models" : role, yaml: "max_tokens: 4096" },
    };
  return { level: "odd", text: "answers with an empty text" };
}
