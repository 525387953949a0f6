// A recorded dialogue as a query: what the user said, what the agent did as the plan, what the tools answered.
import { canonicalJson, dropUndefined, type Json, type JsonObject, type ReferencePlan } from "../../core/index.ts";
import type { DescribedTask, RecordedAnswer } from "../described-tools.ts";
import { type Tally, Uncarried } from "../tally.ts";
import { describeLines } from "../user-lines.ts";
import type { MadeCall, RecordedDialogue } from "./dialogue.ts";

export function toTask(id: string, { tools, events, hasSystem }: RecordedDialogue, tally: Tally): DescribedTask {
  if (tools.length === 0) throw new Uncarried("it describes no tool");
  const lines = events.flatMap((event) => ("user" in event ? [event.user] : []));
  if (lines.length === 0) throw new Uncarried("it has no message of the user");
  const made = events.flatMap((event) => ("user" in event ? [] : event.calls));
  const unknown = made.find(({ name }) => !tools.some((tool) => tool.name === name));
  if (unknown) tally.lose(id, "unknown_tool", "calls of tools that the row does not describe: such a task has no plan");
  if (hasSystem) tally.lose(id, "system_message", "a system message of the task's own, which a query cannot have");
  const answers = answersOf(id, made, tally);
  const plan = toPlan(events);
  const query = dropUndefined({
    id,
    messages: [{ role: "user", content: lines[0] as string }],
    user_system_prompt: describeLines(lines),
    task_info: unknown ? {} : { plan: plan as unknown as Json },
  }) as JsonObject;
  return { query, tools, answers };
}

function answersOf(query: string, calls: MadeCall[], tally: Tally): RecordedAnswer[] {
  const answers = new Map<string, RecordedAnswer>();
  for (const { name, arguments: args, content } of calls) {
    if (content === undefined)
      tally.lose(
        query,
        "no_observation",
        "calls without a recorded answer: the tool answers that it accepted the call",
      );
    const said = content ?? JSON.stringify({ status: "accepted", name });
    const key = canonicalJson([name, args]);
    const known = answers.get(key);
    if (known && known.content !== said)
      tally.lose(query, "several_answers", "the same call with different answers: it always gets the first");
    if (!known) answers.set(key, { query, name, arguments: args, content: said, is_error: false });
  }
  return [...answers.values()];
}

function toPlan(events: RecordedDialogue["events"]): ReferencePlan {
  const plan: ReferencePlan = [];
  for (const event of events) {
    if ("user" in event) {
      plan.push({ user: event.user });
      continue;
    }
    const turn = plan.at(-1);
    if (!turn) continue; // a greeting before the user's first words
    const calls = event.calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
    if (calls.length > 0) turn.steps = [...(turn.steps ?? []), { ...(event.say && { text: event.say }), calls }];
    else turn.say = [turn.say, event.say].filter(Boolean).join("\n\n");
  }
  for (const turn of plan) turn.say ||= "That is done.";
  return [...plan, { user: "Thank you. ###STOP###" }];
}
