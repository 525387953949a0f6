// Vercel's AI SDK as its page "Tool Calling" says (ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling, Multi-Step Calls):
// generateText with zod tools and stopWhen; the model as in "OpenAI Compatible Providers".
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";

export function open({ url, scenario, many }) {
  const model = createOpenAICompatible({ name: "bench", baseURL: url })("bench");
  const { record } = scenario;
  const tools = Object.fromEntries(
    scenario.tools.map(({ name, description, parameters: { properties } }) => [
      name,
      tool({
        description,
        inputSchema: z.object({
          record_id: z.string().describe(properties.record_id.description),
          field: z.string().optional().describe(properties.field.description),
        }),
        execute: async ({ record_id }) => `{"record_id":${JSON.stringify(record_id)},${record}`,
      }),
    ]),
  );
  const { system: instructions, question: prompt } = scenario;
  const play = () => generateText({ model, instructions, prompt, tools, stopWhen: isStepCount(20) });
  return (dialogues, at) => many(dialogues, at, play);
}
