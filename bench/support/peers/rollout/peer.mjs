// Rollout as docs/domains.md and the README's library example say: a domain of one's own in a dataset folder, runRollouts
// with the defaults, so journal, records, checks of arguments, retries and limits are all on.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runRollouts } from "../../../../dist/index.js";

const DOMAIN = "Library";
const MOST = 512;

export function open({ url, scenario, folder }) {
  const base = join(folder, "dataset");
  writeDomain(base, scenario);
  let runs = 0;

  return async function play(dialogues, at) {
    if (dialogues > MOST) throw new Error(`There are ${MOST} queries, fewer than ${dialogues} dialogues`);
    const config = {
      datasets: { [DOMAIN]: { agent: { model: "openai/bench", system_prompt: scenario.system } } },
      base_path: base,
      models: { bench: { provider: "openai", api_base: url } },
      user_model: "openai/bench",
      max_turns: 1,
      max_steps_per_turn: 20,
      max_workers: at,
      limit: dialogues,
    };
    const { finished, failed } = await runRollouts({ config, outputDir: join(folder, `run-${runs++}`), env: {} });
    if (finished !== dialogues || failed > 0) throw new Error(`${finished} of ${dialogues} finished, ${failed} failed`);
  };
}

function writeDomain(base, { tools, question, record }) {
  for (const part of ["mcp_servers", "tool_lists", "queries"]) mkdirSync(join(base, part), { recursive: true });
  const reads = tools.map(({ name }) => `${name}: find`).join(", ");
  const server = `const record = ${JSON.stringify(JSON.parse(`{${record}`))};
const find = (_context, { record_id }) => ({ record_id, ...record });
export default { today: "2026-02-02", reads: { ${reads} }, writes: {} };
`;
  writeFileSync(join(base, "mcp_servers", `${DOMAIN}.mjs`), server);
  const list = tools.map((spec) => ({ type: "function", function: spec }));
  writeFileSync(join(base, "tool_lists", `${DOMAIN}.json`), JSON.stringify(list));
  const messages = [{ role: "user", content: question }];
  const queries = Array.from({ length: MOST }, (_, n) => `${JSON.stringify({ id: `q${n}`, messages })}\n`);
  writeFileSync(join(base, "queries", `${DOMAIN}.jsonl`), queries.join(""));
}
