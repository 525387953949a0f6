// A dialogue as a judge reads it: who said what, which tools were called and what they answered.
import type { CheckContext } from "../check.ts";

const MAX_RESULT = 2000;

export function transcriptOf(
  { trajectory, query, domain }: CheckContext,
  options: { withScenario?: boolean; withPolicy?: boolean } = {},
): string {
  const lines = trajectory.messages.flatMap((message) => {
    if (message.role === "user") return [`User: ${message.content}`];
    if (message.role === "tool") return [`Tool result: ${cut(message.content)}`];
    const calls = (message.tool_calls ?? []).map(
      (call) => `Agent calls ${call.function.name} ${call.function.arguments}`,
    );
    return [...(message.content ? [`Agent: ${message.content}`] : []), ...calls];
  });
  return [
    ...(options.withPolicy && domain?.policy ? [`# Policy of the agent\n\n${domain.policy}`] : []),
    ...(options.withScenario && query.userSystemPrompt ? [`# Scenario of the user\n\n${query.userSystemPrompt}`] : []),
    `# Dialogue\n\n${lines.join("\n\n")}`,
  ].join("\n\n");
}

function cut(text: string): string {
  return text.length > MAX_RESULT ? `${text.slice(0, MAX_RESULT)} […]` : text;
}
