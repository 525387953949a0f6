// Making rollouts from a program: `npx tsx examples/library.ts`. Three queries of a bundled domain, scripted models, no key.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runRollouts, type Trajectory } from "agent-rollout";

const result = await runRollouts({
  config: { datasets: ["StudentHealthServices"], agent_model: "scripted/agent?skill=0.8" },
  outputDir: join(mkdtempSync(join(tmpdir(), "rollout-example-")), "run"),
  limit: 3,
  bundled: true,
  onEvent: (event) => {
    if (event.type === "rollout-end")
      console.log(`${event.queryId}: ${event.outcome.stopReason} after ${event.turns} turns`);
  },
});

const [file] = Object.values(result.outputs);
const lines = readFileSync(file as string, "utf8")
  .trim()
  .split("\n");
const trajectories = lines.map((line) => JSON.parse(line) as Trajectory);
console.log(
  `${result.finished} finished, ${trajectories.reduce((sum, { metadata }) => sum + metadata.tool_call_count, 0)} tool calls`,
);
