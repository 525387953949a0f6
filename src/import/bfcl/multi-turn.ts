// Tasks over classes with an initial state: the user's lines are fixed, the reference is a list of calls for each.
import { dropUndefined, type Json, type JsonObject, type PlanCall, type ReferencePlan } from "../../core/index.ts";
import { type Tally, Uncarried } from "../tally.ts";
import { describeLines } from "../user-lines.ts";
import { linesOf, messagesOf } from "./questions.ts";

export type ParsedTurns = { turns: PlanCall[][] } | { problem: string } | undefined;

export function readMultiTurn(entry: JsonObject, parsed: ParsedTurns, tally: Tally): JsonObject {
  const id = String(entry.id);
  const question = entry.question as Json[];
  const { opening } = messagesOf(id, question[0], tally);
  if (!parsed) tally.lose(id, "no_answer", "no possible answer is known: such a task has no plan");
  if (parsed && "problem" in parsed) throw new Uncarried(`its reference calls cannot be read: ${parsed.problem}`);
  if (entry.missed_function)
    tally.lose(id, "missed_function", "functions that are given only later: here they are there from the beginning");
  const plan = parsed && toTurns(question, parsed.turns);
  return dropUndefined({
    id,
    messages: opening,
    user_system_prompt: describeLines(question.flatMap(linesOf)),
    setup: [
      {
        name: "rollout_setup",
        arguments: { config: entry.initial_config ?? {}, long_context: id.includes("long_context") },
      },
    ],
    task_info: dropUndefined({ plan: plan as unknown as Json, involved_classes: entry.involved_classes }) as JsonObject,
  }) as JsonObject;
}

/** A turn without a message of the user belongs to the one before. */
function toTurns(question: Json[], calls: PlanCall[][]): ReferencePlan {
  const plan: ReferencePlan = [];
  for (const [index, messages] of question.entries()) {
    const steps = (calls[index] ?? []).map((call) => ({ calls: [call] }));
    const lines = linesOf(messages);
    const last = plan.at(-1);
    if (last && lines.length === 0) last.steps = [...(last.steps ?? []), ...steps];
    else plan.push({ user: lines.join("\n\n"), steps, say: "That is done." });
  }
  for (const turn of plan) if (turn.steps?.length === 0) turn.say = "For that I would need to know more.";
  return [...plan, { user: "Thank you. ###STOP###" }];
}
