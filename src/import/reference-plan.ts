// A reference plan from calls in order: the agent's become steps, what the user does itself begins a new turn.
import type { Json, PlanCall, ReferencePlan } from "../core/index.ts";

export type ReferenceCall = PlanCall & { by: "agent" | "user" };

export type PlanWishes = {
  mustTell: Json[];
  /** the dialogue's opening ends with the user, so that the agent is next */
  agentIsNext: boolean;
};

export function toPlan(calls: ReferenceCall[], { mustTell, agentIsNext }: PlanWishes): ReferencePlan {
  const plan: ReferencePlan = [agentIsNext ? {} : { user: "Hello, I need your help." }];
  for (const { by, ...call } of calls) {
    const turn = plan.at(-1) as ReferencePlan[number];
    if (by === "agent") turn.steps = [...(turn.steps ?? []), { calls: [call] }];
    else if (turn.user_calls && !turn.steps) turn.user_calls.push(call);
    else {
      turn.say = "Please do the next step on your side, and tell me what you see.";
      plan.push({ user_calls: [call], user: "I have done that." });
    }
  }
  const last = plan.at(-1) as ReferencePlan[number];
  const told = mustTell.length > 0 ? ` You wanted to know: ${mustTell.map(String).join(", ")}.` : "";
  last.say = `${calls.length > 0 ? "That is done." : "I have looked into it, and I cannot change anything here."}${told}`;
  const isHandedOver = calls.at(-1)?.name.startsWith("transfer_to_human") ?? false;
  plan.push({ user: `Thank you. ${isHandedOver ? "###TRANSFER###" : "###STOP###"}` });
  return plan;
}
