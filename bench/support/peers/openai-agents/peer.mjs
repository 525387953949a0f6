// OpenAI's Agents SDK as its guides say (openai.github.io/openai-agents-js/guides: Agents, Tools, Running agents): an Agent
// with zod tools, and run. From Configuration: a client of one's own, chat completions, and no tracing, which would go to
// OpenAI's servers.
import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

export function open({ url, scenario, many }) {
  setDefaultOpenAIClient(new OpenAI({ baseURL: url, apiKey: "bench" }));
  setOpenAIAPI("chat_completions");
  setTracingDisabled(true);
  const { record } = scenario;
  const tools = scenario.tools.map(({ name, description, parameters: { properties } }) =>
    tool({
      name,
      description,
      parameters: z.object({
        record_id: z.string().describe(properties.record_id.description),
        field: z.string().nullable().describe(properties.field.description), // its strict schemas know no optional fields
      }),
      execute: async ({ record_id }) => `{"record_id":${JSON.stringify(record_id)},${record}`,
    }),
  );
  const agent = new Agent({ name: "Library", instructions: scenario.system, model: "bench", tools });
  const play = () => run(agent, scenario.question, { maxTurns: 20 });
  return (dialogues, at) => many(dialogues, at, play);
}
