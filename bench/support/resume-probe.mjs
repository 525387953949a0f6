// Continues a run's folder, says when the first new rollout could begin, and leaves without making any.
import { resolveConfig } from "../../dist/config/index.js";
import { makeRollouts } from "../../dist/runner/index.js";

const { dataset, folder, rollouts, mode } = JSON.parse(process.argv[2]);
const run = resolveConfig({ datasets: [dataset], bundled: true, mode, rollouts, max_workers: 1 }, { folder });
const startedAt = performance.now();
let kept = 0;
const onEvent = (event) => {
  if (event.type === "run-start") kept = event.datasets.reduce((sum, one) => sum + one.kept, 0);
  if (event.type !== "rollout-start") return;
  const now = performance.now();
  const { rss } = process.memoryUsage();
  process.stdout.write(JSON.stringify({ processMs: now, planMs: now - startedAt, kept, rss }), () => process.exit(0));
};
await makeRollouts(run, { onEvent });
