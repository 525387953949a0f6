// LangGraph as its quickstart says (docs.langchain.com/oss/javascript/langgraph/quickstart): a graph of a model node and a tool
// node, compiled once, invoked for each dialogue, without a checkpointer.
import { SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

export function open({ url, scenario, many }) {
  const { record } = scenario;
  const tools = scenario.tools.map(({ name, description, parameters: { properties } }) =>
    tool(async ({ record_id }) => `{"record_id":${JSON.stringify(record_id)},${record}`, {
      name,
      description,
      schema: z.object({
        record_id: z.string().describe(properties.record_id.description),
        field: z.string().optional().describe(properties.field.description),
      }),
    }),
  );
  const model = new ChatOpenAI({ model: "bench", apiKey: "bench", configuration: { baseURL: url } }).bindTools(tools);
  const system = new SystemMessage(scenario.system);
  const agent = new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke([system, ...messages])] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition, ["tools", END])
    .addEdge("tools", "model")
    .compile();
  const asked = { messages: [{ role: "user", content: scenario.question }] };
  const play = () => agent.invoke(asked, { recursionLimit: 50 });
  return (dialogues, at) => many(dialogues, at, play);
}
