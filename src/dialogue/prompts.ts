// What the parties are told. A config may replace any of it; what was actually sent is kept in the run folder.
import type { Mode, Query } from "../core/index.ts";

export type AgentPrompt = { systemPrompt?: string };
export type UserPrompt = { systemPrompt?: string; guidelines?: string; customGuidelines?: string };

const AGENT_PREAMBLE = `You are an assistant that helps a user by calling tools. Work by the policy below.

- When a parameter of a tool is missing or unclear, ask the user for it. Never guess a value, and never make one up.
- State only what a tool result or the policy says. When a tool answers with an error, tell the user or try another way.
- When you have nothing left to look up or do in this turn, answer the user in plain words.`;

/** For negative modes, where the right answer is that it cannot be done here. */
const NEGATIVE_PREAMBLE = `You are an assistant that helps a user. Work by the policy below.

- The tools that you are offered, if any, may not fit what the user asks for. A tool that is not offered to you cannot be used, even if the policy names it.
- If nothing that you are offered can do what the user asks, say so plainly. Do not call a tool that is made for something else, and do not pretend that anything was done.
- Then ask whether something else would help, or name the person or office that can do it.
- State only what the user, a tool result or the policy says. Never make up data, and never guess a value: ask the user.`;

const USER_GUIDELINES = `You are playing a person who talks to a service agent. You are the one who needs help, never the one who gives it.

- Stay with the scenario below. It is everything you know: do not invent names, numbers, dates or wishes beyond it.
- Pursue one goal at a time, and give a detail only when the agent asks for it. Do not recite the scenario.
- Use the known information exactly as it is written. When you are asked for something that you do not know, say so.
- Write one short, natural message at a time: plain speech, no lists, no role labels, no tool calls, no stage directions.
- Do not repeat the agent's words back to it, and do not answer in the agent's place.

End the conversation with one of these tokens, once, in your last message:
- ###STOP### when your goal is reached, or when there is nothing more that you want.
- ###TRANSFER### when the agent has handed you over to a person, or says that it will.
- ###OUT-OF-SCOPE### when the agent cannot help with what you need, or the scenario gives you nothing to answer with.`;

/** For question sets, where nobody can be asked. */
const QUESTION_PREAMBLE = `You answer a question that a person asks once; nobody can be asked back. Work by the policy below.`;
const RESEARCH = `
- Find the answer with your tools. Take as many steps as you need: search, read, compare, and follow up on what you find.
- Trust what tool results say over what you remember. When a tool answers with an error or with nothing useful, try another way.
- When you have found the answer, or nothing more can be found, stop and give the answer that is best supported.`;
const NO_RESEARCH = `
- Think it through, then commit to one answer.`;

type PromptParts = {
  policy: string | undefined;
  prompt: AgentPrompt;
  mode: Mode;
  /** the sentence that says how answers are marked */
  answerFormat?: string;
  /** set for question sets */
  question?: { hasTools: boolean };
};

/**
 * In a replaced system prompt `{policy}` stands for the domain's policy, and `{answer_format}` for the sentence that says
 * how the answer is marked.
 */
export function agentSystemPrompt({ policy, prompt, mode, answerFormat = "", question }: PromptParts): string {
  if (prompt.systemPrompt !== undefined)
    return prompt.systemPrompt.replace(/\{policy\}|\{answer_format\}/g, (place) =>
      place === "{policy}" ? (policy ?? "") : answerFormat,
    );
  const preamble = question
    ? questionPreamble(question.hasTools, answerFormat)
    : mode === "positive"
      ? AGENT_PREAMBLE
      : NEGATIVE_PREAMBLE;
  return policy ? `${preamble}\n\n# Policy\n\n${policy}` : preamble.replace(" Work by the policy below.", "");
}

function questionPreamble(hasTools: boolean, answerFormat: string): string {
  return `${QUESTION_PREAMBLE}\n${hasTools ? RESEARCH : NO_RESEARCH}\n- ${answerFormat}`;
}

/** For users with tools of their own. */
const USER_TOOLS = `You also have tools of your own: what you can do or look at on your side. Use one only when the agent asks you to do or check something, then tell the agent in plain words what came of it. Never speak of calling a tool.`;

/** `{scenario}` in a replaced system prompt stands for the query's own scenario. */
export function userSystemPrompt(query: Query, prompt: UserPrompt): string {
  const scenario = [query.userSystemPrompt, query.userTools?.length ? USER_TOOLS : ""].filter(Boolean).join("\n\n");
  if (prompt.systemPrompt !== undefined) {
    return prompt.systemPrompt.includes("{scenario}")
      ? prompt.systemPrompt.replaceAll("{scenario}", () => scenario)
      : `${prompt.systemPrompt}\n\n# Scenario\n\n${scenario}`.trim();
  }
  const guidelines = [prompt.guidelines ?? USER_GUIDELINES, prompt.customGuidelines].filter(Boolean).join("\n\n");
  return scenario ? `${guidelines}\n\n# Scenario\n\n${scenario}` : guidelines;
}

/** The parts of the user's prompt that are the same for all queries, for fingerprints. */
export function userGuidelines(prompt: UserPrompt): string {
  return (
    prompt.systemPrompt ?? [prompt.guidelines ?? USER_GUIDELINES, prompt.customGuidelines].filter(Boolean).join("\n\n")
  );
}
