// An agent in code: `npx tsx examples/own-agent.ts`. A function that answers is an agent: this one follows a rule where
// yours may call any model or framework. The user is scripted, so no key is needed.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModelReply, type ModelRequest, runRollouts } from "agent-rollout";

/** Searches the courses once, then reports what it found. */
async function answer({ messages }: ModelRequest): Promise<string | Partial<ModelReply>> {
  const found = messages.findLast((message) => message.role === "tool");
  if (found) return `This is what I found: ${found.content.slice(0, 80)}…`;
  return { toolCalls: [{ id: "call_1", name: "search_courses", arguments: "{}" }] };
}

const result = await runRollouts({
  config: {
    datasets: ["StudentAcademicPortal"],
    agent_model: "mine/searcher",
    user_model: "scripted/user",
    bundled: true,
  },
  agents: { "mine/searcher": answer },
  outputDir: join(mkdtempSync(join(tmpdir(), "rollout-example-")), "run"),
  limit: 3,
  onEvent: (event) => {
    if (event.type === "rollout-end") console.log(`${event.queryId}: ${event.toolCalls} tool calls`);
  },
});
console.log(`${result.finished} finished`);
