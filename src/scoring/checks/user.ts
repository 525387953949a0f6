// `user`: did the simulated user play its part? Rules find what rules can: it spoke as the agent, used values it was
// never given, recited its whole scenario at once, or left while the agent waited for its yes. A judge, if there is
// one, is asked about the rest.
import { type Check, type CheckContext, failed, notCheckable, passed } from "../check.ts";
import { askForVerdict, readVerdict } from "../judge/ask-judge.ts";
import { transcriptOf } from "../judge/judge-text.ts";
import { identifiersIn, occurs } from "../values.ts";

export const userCheck: Check = {
  name: "user",
  version: 1,
  run: (context) => {
    if (context.trajectory.metadata.models.user === undefined && context.dialogue.user.length <= 1)
      return notCheckable("no simulated user took part");
    const faults = [
      findSwappedRoles(context),
      findInvention(context),
      findRecital(context),
      findEarlyExit(context),
    ].filter((fault) => fault !== undefined);
    if (faults.length === 0) return passed("the user kept to its part");
    return failed(faults.join("; "), { blame: "user", details: { faults } });
  },
};

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

function findSwappedRoles({ trajectory }: CheckContext): string | undefined {
  const { stop_reason, message } = trajectory.metadata;
  if (stop_reason === "user_fault") return `it could not be brought to answer as a user (${message ?? "user_fault"})`;
  return undefined;
}

/** An identifier that is neither in the scenario nor was said by the agent before. */
function findInvention({ trajectory, query }: CheckContext): string | undefined {
  const opening = new Set(query.messages.map(({ content }) => content));
  let known = [query.userSystemPrompt, JSON.stringify(query.taskInfo), ...opening].join("\n");
  if (query.userSystemPrompt === "" && query.taskInfo.known_info === undefined) return undefined;
  for (const message of trajectory.messages) {
    if (message.role === "assistant") known += `\n${message.content}`;
    if (message.role !== "user" || opening.has(message.content)) continue;
    const digits = known.replace(/\D+/g, " ");
    const made = identifiersIn(message.content).find(
      (value) => !occurs(known, value) && !digits.includes(value.replace(/\D+/g, " ").trim()),
    );
    if (made !== undefined) return `it used ${JSON.stringify(made)}, which nobody gave it`;
  }
  return undefined;
}

/** Everything the scenario knows, at least four values, in its first message. */
function findRecital({ query, dialogue, trajectory }: CheckContext): string | undefined {
  const values = [...new Set(identifiersIn(`${query.taskInfo.known_info ?? ""} ${query.userSystemPrompt}`))];
  if (values.length < 4 || trajectory.metadata.models.user === undefined) return undefined;
  const opening = new Set(query.messages.map(({ content }) => content));
  const first = dialogue.user.find(({ text }) => !opening.has(text));
  const told = first && values.filter((value) => occurs(first.text, value)).length;
  return told === values.length ? `its first message held all ${told} values that it knows` : undefined;
}

/** It said yes to a preview, or nothing at all, and left before the agent could act. */
function findEarlyExit({ trajectory, dialogue }: CheckContext): string | undefined {
  if (trajectory.metadata.stop_reason !== "user_stop") return undefined;
  const lastCall = dialogue.calls.at(-1);
  const question = dialogue.agent.at(-1);
  if (!lastCall?.isPreview || !question?.text.includes("?")) return undefined;
  const last = dialogue.user.at(-1);
  const answer = last && last.at > question.at ? last.text : "";
  if (answer !== "" && !/\b(yes|sure|ok(ay)?|go ahead|please do|do it)\b/i.test(answer)) return undefined;
  return `it ended the dialogue while ${lastCall.name} waited for its answer`;
}
