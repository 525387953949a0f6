// `policy`: the rules that a domain declares checkable, held against the record. They are about what the agent tried, so a
// call that the tool refused still breaks "authorise first". Keeping them solves nothing. What they cannot decide becomes a
// question for the `conduct` check.
import type { Json } from "../../core/index.ts";
import type { Domain } from "../../domains/index.ts";
import type { PolicyRule } from "../../tools/index.ts";
import { type Check, type CheckContext, type Doubt, failed, notCheckable, passed } from "../check.ts";
import { examineAuthorizeFirst } from "../rules/authorize-first.ts";
import { examineConfirmBefore } from "../rules/confirm-before.ts";
import { examineForbidden } from "../rules/forbidden.ts";
import { examineOnePerson } from "../rules/one-person.ts";
import type { Breach, Finding, NamedCall, Scene } from "../rules/rule.ts";
import { examineTransfer } from "../rules/transfer.ts";

export const policyCheck: Check = {
  name: "policy",
  version: 2,
  guards: true,
  run: (context) => {
    const { domain, trajectory } = context;
    const { mode } = trajectory.metadata;
    if (mode !== "positive") return notCheckable(`mode ${mode} offers none of the domain's tools`);
    if (!domain || domain.rules.length === 0) return notCheckable("the domain declares no checkable rules");
    const { broken, doubts } = findBreaches(context, domain);
    const details: Json = doubts.length > 0 ? { broken, doubts } : { broken };
    if (broken.length > 0) return failed(broken.map(({ rule, text }) => `${rule}: ${text}`).join("; "), { details });
    if (doubts.length > 0)
      return notCheckable(`rules cannot decide: ${doubts.map(({ statement }) => statement).join(" ")}`, { details });
    return passed(`${domain.rules.length} rules kept`);
  },
};

type Breaches = { broken: ({ rule: string } & Breach)[]; doubts: Doubt[] };

export function findBreaches({ dialogue, query }: CheckContext, domain: Domain): Breaches {
  const calls = dialogue.calls.flatMap((call): NamedCall[] => {
    const named = domain.toolbox.resolve(call.name);
    return named ? [{ call, wire: named.spec.name, server: named.server }] : [];
  });
  const { plan } = query.taskInfo;
  const scene: Scene = { dialogue, domain, calls, plan: plan && JSON.stringify(plan) };
  const findings = domain.rules.map((rule) => ({ rule: rule.id, ...examine(rule, scene) }));
  return {
    broken: findings.flatMap(({ rule, broken }) => broken.map((breach) => ({ rule, ...breach }))),
    doubts: findings.flatMap(({ doubts = [] }) => doubts),
  };
}

function examine(rule: PolicyRule, scene: Scene): Finding {
  switch (rule.rule) {
    case "authorize_first":
      return examineAuthorizeFirst(rule, scene);
    case "confirm_before":
      return examineConfirmBefore(rule, scene);
    case "forbidden":
      return examineForbidden(rule, scene);
    case "one_person":
      return examineOnePerson(rule, scene);
    case "transfer":
      return examineTransfer(rule, scene);
  }
}
