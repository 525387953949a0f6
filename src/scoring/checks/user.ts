// `user`: did the simulated user play its part? Rules find what rules can: it spoke as the agent, used values it was
// never given, recited its whole scenario at once, or left while the agent, right so far, waited for its answer. A judge,
// if there is one, is asked about the rest.
import type { Json } from "../../core/index.ts";
import { type Check, type CheckContext, failed, notCheckable, passed } from "../check.ts";
import { askForVerdict, readVerdict } from "../judge/ask-judge.ts";
import { transcriptOf } from "../judge/judge-text.ts";
import { matchRules, wrongArguments } from "../match-arguments.ts";
import { datesIn } from "../reading/dates.ts";
import type { ReferenceCall } from "../reference.ts";
import { isRead, isSignIn } from "../reference.ts";
import type { RecordedCall } from "../transcript.ts";
import { identifiersIn, occurs } from "../values.ts";

export const userCheck: Check = {
  name: "user",
  version: 2,
  guards: true,
  run: async (context) => {
    if (context.trajectory.metadata.models.user === undefined && context.dialogue.user.length <= 1)
      return notCheckable("no simulated user took part");
    const faults = [
      findSwappedRoles(context),
      findInvention(context),
      findRecital(context),
      await findEarlyExit(context),
      await findWrongValue(context),
    ].filter((fault) => fault !== undefined);
    if (faults.length === 0) return passed("the user kept to its part");
    const texts = faults.map(({ text }) => text);
    const at = [...new Set(faults.flatMap((fault) => fault.at ?? []))];
    return failed(texts.join("; "), { blame: "user", details: { faults: texts, at } });
  },
};

/** What it did wrong, and the message that shows it. */
type Fault = { text: string; at?: number };

/** The same, followed by a judge's opinion. */
export const judgedUserCheck: Check = {
  ...userCheck,
  needsJudge: true,
  settings: { judge: true },
  run: async (context) => {
    const byRule = await userCheck.run(context);
    if (byRule.pass !== true) return byRule;
    return askForVerdict(context, {
      system: SYSTEM,
      text: transcriptOf(context, { withScenario: true }),
      read: readVerdict,
      blame: "user",
    });
  },
};

const SYSTEM = `You check a simulated user in a dialogue with a service agent. The user was given a scenario. It did its part badly if it
ended the dialogue before its goal was settled, used facts that are neither in the scenario nor said by the agent, spoke as if it
were the agent, or told everything it knows at once without being asked. What the agent did wrong is not the user's fault.
Answer with JSON only: {"pass": true or false, "reason": "one short sentence"}`;

/** What only the side that serves says. */
const AS_AGENT =
  /\b(?:how (?:can|may) i (?:help|assist) you|is there anything else (?:i|we) can|i(?:'ve| have) (?:now |just |successfully )?(?:booked|registered|enrolled|cancell?ed|processed|updated|submitted|dropped|waived|refunded|scheduled|verified|looked up|pulled up) (?:you|your)|i(?:'ll| will| can| am going to|'m going to) (?:now |then )?(?:register|book|enroll|cancel|process|verify|look up|pull up|check|update|waive|submit|schedule) (?:you|your)\b|your (?:request|appointment|registration|payment) (?:has been|is now) (?:booked|confirmed|processed|registered|submitted|completed)|please (?:provide|give me|share|tell me) your (?:student id|date of birth|pin|health card)|(?:your|the) new total is|shall i (?:go ahead|register you|book|proceed)|would you like me to|i(?:'ve| have)? (?:now |just )?(?:booked|registered|enrolled|put|scheduled|moved|cancell?ed|dropped|signed|added) you\b|(?:booked|registered|enrolled|confirmed|scheduled|cancell?ed) for you|you(?:'re| are| have been|'ve been) (?:now |all )?(?:registered|enrolled|booked|signed up|waitlisted|verified))\b(?![^.!?]*\?)/iu;

function findSwappedRoles({ trajectory, dialogue, query }: CheckContext): Fault | undefined {
  const { stop_reason, message } = trajectory.metadata;
  if (stop_reason === "user_fault")
    return { text: `it could not be brought to answer as a user (${message ?? "user_fault"})` };
  const opening = new Set(query.messages.map(({ content }) => content));
  const swapped = dialogue.user.find(({ text }) => !opening.has(text) && AS_AGENT.test(text.replaceAll("’", "'")));
  return swapped && { text: `it spoke as the agent: "${swapped.text.slice(0, 80)}"`, at: swapped.at };
}

/** An identifier that is neither in the scenario nor was said by the agent before, and that the agent then used. */
function findInvention({ trajectory, query, dialogue }: CheckContext): Fault | undefined {
  const used = dialogue.calls.map(({ text }) => text).join("\n");
  const opening = new Set(query.messages.map(({ content }) => content));
  let known = [query.userSystemPrompt, JSON.stringify(query.taskInfo), ...opening].join("\n");
  if (query.userSystemPrompt === "" && query.taskInfo.known_info === undefined) return undefined;
  for (const [at, message] of trajectory.messages.entries()) {
    for (const call of dialogue.userCalls) if (call.at === at) known += `\n${call.result}`;
    if (message.role === "assistant") known += `\n${message.content}`;
    if (message.role !== "user" || opening.has(message.content)) continue;
    const digits = known.replace(/\D+/g, " ");
    const made = identifiersIn(message.content).find(
      (value) => !occurs(known, value) && !digits.includes(value.replace(/\D+/g, " ").trim()) && occurs(used, value),
    );
    if (made !== undefined) return { text: `it used ${JSON.stringify(made)}, which nobody gave it`, at };
    const dates = new Set(datesIn(known));
    const [date] = listFullDates(message.content).filter((written) =>
      datesIn(written).every((day) => !dates.has(day) && used.includes(day)),
    );
    if (date !== undefined) return { text: `it gave the date ${date}, which nobody gave it`, at };
  }
  return undefined;
}

/** With a year: dates of birth and the like. Others a person works out from "next Thursday". */
function listFullDates(text: string): string[] {
  const forms =
    /\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{1,2}(?:st|nd|rd|th)?(?: of)? \p{L}+\.?,? \d{4}|\p{L}+\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}年\d{1,2}月\d{1,2}[日号]/gu;
  return [...text.matchAll(forms)].map(([written]) => written).filter((written) => datesIn(written).length > 0);
}

/** Everything the scenario knows, at least four values, in its first message. */
function findRecital({ query, dialogue, trajectory }: CheckContext): Fault | undefined {
  const values = [...new Set(identifiersIn(`${query.taskInfo.known_info ?? ""} ${query.userSystemPrompt}`))];
  if (values.length < 4 || trajectory.metadata.models.user === undefined) return undefined;
  const opening = new Set(query.messages.map(({ content }) => content));
  const first = dialogue.user.find(({ text }) => !opening.has(text));
  const told = first && values.filter((value) => occurs(first.text, value)).length;
  return told === values.length
    ? { text: `its first message held all ${told} values that it knows`, at: first?.at }
    : undefined;
}

const MAX_LEAVING_WORDS = 40;

/**
 * It left with a write of the reference still to be made, while the agent waited for its answer. Its fault only where
 * the agent was right: what waits is that very write, and nothing else was changed.
 */
async function findEarlyExit(context: CheckContext): Promise<Fault | undefined> {
  const { trajectory, dialogue, domain } = context;
  if (trajectory.metadata.stop_reason !== "user_stop" || !domain) return undefined;
  const question = dialogue.agent.at(-1);
  if (!question || !/[?？]/.test(question.text)) return undefined;
  const reference = await context.reference();
  if (typeof reference === "string") return undefined;
  const rules = matchRules({}, domain);
  const wireOf = (call: RecordedCall) => domain.toolbox.wireName(call.name);
  const isSame = (call: RecordedCall, wanted: ReferenceCall) =>
    wireOf(call) === wanted.name && wrongArguments(call.arguments ?? {}, wanted, rules).length === 0;
  const made = dialogue.calls.filter(
    (call) => !call.isError && !call.isPreview && !isRead(wireOf(call), domain) && !isSignIn(wireOf(call), domain),
  );
  const writes = reference.calls.filter(({ kind, changes }) => kind === "write" && changes);
  const open = writes.filter((wanted) => !made.some((call) => isSame(call, wanted)));
  if (open.length === 0 || made.some((call) => !writes.some((wanted) => isSame(call, wanted)))) return undefined;
  const pending = dialogue.calls.findLast((call) => call.isPreview);
  if (pending && !made.some(({ at, name }) => at > pending.at && name === pending.name)) {
    const isRight = open.some((wanted) => isSame(pending, wanted));
    return isRight
      ? { text: `it ended the dialogue while ${pending.name} waited for its answer`, at: pending.at }
      : undefined;
  }
  const last = dialogue.user.at(-1);
  const answer = last && last.at > question.at ? last.text : "";
  const isEmpty =
    identifiersIn(answer).length === 0 && !/\d/.test(answer) && answer.split(/\s+/).length <= MAX_LEAVING_WORDS;
  return isEmpty && !/anything else|something else|help you with/i.test(question.text)
    ? { text: "it ended the dialogue without answering the agent's question", at: question.at }
    : undefined;
}

/** It gave a wrong value, never the right one, and let the agent act on it. */
async function findWrongValue({ dialogue, domain, ...context }: CheckContext): Promise<Fault | undefined> {
  const reference = domain && (await context.reference());
  if (!domain || !reference || typeof reference === "string") return undefined;
  const said = dialogue.user.map(({ text }) => text).join("\n");
  for (const call of dialogue.calls) {
    const wire = domain.toolbox.wireName(call.name);
    const same = reference.calls.filter(({ name, kind }) => name === wire && kind === "write");
    if (call.isError || call.isPreview || same.length !== 1) continue;
    const wanted = valuesOf(same[0]?.arguments ?? {});
    const wrong = valuesOf(call.arguments ?? {}).filter((value) => isTelling(value) && !wanted.includes(value));
    const missing = wanted.filter((value) => isTelling(value) && !valuesOf(call.arguments ?? {}).includes(value));
    const isUsers =
      wrong.length > 0 && wrong.every((value) => occurs(said, value)) && !missing.some((value) => occurs(said, value));
    if (isUsers && missing.length > 0)
      return {
        text: `it said ${wrong.join(", ")} where ${missing.join(", ")} is right, and never corrected it`,
        at: call.at,
      };
  }
  return undefined;
}

function valuesOf(value: Json): string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(valuesOf) : [];
}

/** An identifier: other values a person may put in other words. */
function isTelling(value: string): boolean {
  return identifiersIn(value).length > 0;
}
