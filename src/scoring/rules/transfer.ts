// `transfer`: the user is handed over only where the policy says so and, if it says so, after they agreed; and the agent
// does not end the talk before the user is done.
import type { Domain } from "../../domains/index.ts";
import { readStance } from "../reading/consent.ts";
import {
  asksForHandover,
  declinesHandover,
  findEnding,
  findHandover,
  isDone,
  offersHandover,
} from "../reading/handovers.ts";
import type { Transcript } from "../transcript.ts";
import { type Breach, type Finding, type NamedCall, quoteText, type RuleOf, type Scene } from "./rule.ts";

export function examineTransfer(rule: RuleOf<"transfer">, scene: Scene): Finding {
  const { calls, dialogue, plan, domain } = scene;
  const isPlanned = plan === undefined || plansHandover(plan, domain);
  const broken: Breach[] = [];
  const byTool = calls.filter(({ wire, call }) => rule.tools?.includes(wire) && !call.isError && !call.isPreview);
  const inWords = dialogue.agent.flatMap(({ text, at }) => {
    const sentence = findHandover(text);
    return sentence ? [{ at, what: `the agent said ${quoteText(sentence)}` }] : [];
  });
  const handovers = [...byTool.map(({ wire, call }) => ({ at: call.at, what: `${wire} was called` })), ...inWords].sort(
    (a, b) => a.at - b.at,
  );
  const first = handovers[0];
  if (first) {
    const isLocked = findLock(rule, scene, first.at);
    const before = dialogue.user.filter(({ at }) => at < first.at);
    if (!isPlanned && !isLocked)
      broken.push({ text: `${first.what}, and nothing here is to be handed over`, at: first.at });
    else if (
      before.some(({ text }) => declinesHandover(text)) &&
      !before.some(({ text }) => asksForHandover(text)) &&
      !isLocked
    )
      broken.push({ text: `${first.what} although the user did not want to be handed over`, at: first.at });
    else if (rule.ask && byTool.length > 0 && !isLocked && !hasAgreed(dialogue, (byTool[0] as NamedCall).call.at))
      broken.push({ text: `${first.what} without asking the user`, at: first.at });
  }
  for (const { text, at } of dialogue.agent) {
    const ending = findEnding(text);
    const last = dialogue.user.findLast((said) => said.at < at);
    if (!ending || (last && isDone(last.text)) || findLock(rule, scene, at) || first) continue;
    broken.push({ text: `the agent ended the talk (${quoteText(ending)}) before the user was done`, at });
  }
  return { broken };
}

/** The user asked for it, or said yes after the agent brought it up. */
function hasAgreed({ agent, user }: Transcript, at: number): boolean {
  if (user.some((said) => said.at < at && asksForHandover(said.text))) return true;
  const offer = agent.findLast((said) => said.at < at && offersHandover(said.text));
  const answers = offer ? user.filter((said) => said.at > offer.at && said.at < at) : [];
  return answers.some(({ text }) =>
    ["yes", "depends", "unread", "silent"].includes(readStance(text, ["transfer", "connect", "hand", "put", "pass"])),
  );
}

function findLock({ locked_by }: RuleOf<"transfer">, { calls }: Scene, before: number): boolean {
  const failures = calls.filter(({ wire, call }) => wire === locked_by && call.isError && call.at < before);
  return failures.length >= 3 || failures.some(({ call }) => /lock/i.test(call.result));
}

function plansHandover(plan: string, domain: Domain): boolean {
  const tools = domain.rules.flatMap((rule) => (rule.rule === "transfer" ? (rule.tools ?? []) : []));
  const bare = tools.map((tool) => domain.toolbox.resolve(tool)?.tool ?? tool);
  return (
    plan.includes("###TRANSFER###") ||
    bare.some((tool) => plan.includes(`${tool}"`)) ||
    /transferr?|hand(?:ing)? (?:you )?over|on-call nurse/i.test(plan.replace(/"think":\s*"(?:[^"\\]|\\.)*"/g, ""))
  );
}
