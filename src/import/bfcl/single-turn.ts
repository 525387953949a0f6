// Questions with functions that are only described: a plan from the possible answers, and tools that accept any call.
import { dropUndefined, type Json, type JsonObject, type ReferencePlan } from "../../core/index.ts";
import { type Tally, Uncarried } from "../tally.ts";
import { type DescribedTool, toTool } from "../tool-schema.ts";
import { describeLines } from "../user-lines.ts";
import { chooseAnswer } from "./possible-answers.ts";
import { messagesOf } from "./questions.ts";

export type OwnTools = { query: JsonObject; tools: DescribedTool[] };

export function readSingleTurn(entry: JsonObject, truth: Json | undefined, tally: Tally): OwnTools {
  const id = String(entry.id);
  const tools = (entry.function as JsonObject[]).flatMap((each) => toTool(each) ?? []);
  if (tools.length === 0) throw new Uncarried("it describes no function");
  const { opening, lines } = messagesOf(id, (entry.question as Json[])[0], tally);
  tally.lose(id, "not_executable", "functions that are only described: the tools answer that they accepted the call");
  const query = dropUndefined({
    id,
    messages: opening,
    user_system_prompt: describeLines(lines),
    task_info: dropUndefined({ plan: planOf(id, truth, tally), possible_answers: truth }) as JsonObject,
  }) as JsonObject;
  return { query, tools };
}

function planOf(id: string, truth: Json | undefined, tally: Tally): Json | undefined {
  const isIrrelevant = /irrelevance/.test(id);
  if (!Array.isArray(truth) && !isIrrelevant) {
    tally.lose(id, "no_answer", "no possible answer is known: such a task has no plan");
    return undefined;
  }
  const { calls, hasAlternatives } = chooseAnswer((truth ?? []) as JsonObject[]);
  if (hasAlternatives)
    tally.lose(
      id,
      "alternatives",
      "arguments with several right values, in task_info.possible_answers: the plan has the first, and leaves out what may be left out",
    );
  const plan: ReferencePlan = isIrrelevant
    ? [{ say: "None of my tools can do that." }, { user: "I see. ###OUT-OF-SCOPE###" }]
    : [{ steps: [{ calls }], say: "That is done." }, { user: "Thank you. ###STOP###" }];
  return plan as unknown as Json;
}
