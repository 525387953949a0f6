// One run, with models that play the queries' plans and log each call that would be paid for.
import { appendFileSync } from "node:fs";

const { dist, folder, config, calls } = JSON.parse(process.argv[2]);
const { resolveConfig } = await import(`${dist}/config/index.js`);
const { makeRollouts } = await import(`${dist}/runner/index.js`);
const { createScriptedClient } = await import(`${dist}/models/scripted/clients.js`);
const { openQueryFiles } = await import(`${dist}/domains/index.js`);

const run = resolveConfig({ bundled: !config.base_path, ...config }, { folder });
const plans = new Map();
for (const { name, queryFiles } of run.datasets) {
  const queries = openQueryFiles(queryFiles);
  for (let n = 0; n < queries.size; n++) plans.set(`${name} ${queries.id(n)}`, queries.load(n).taskInfo.plan);
}
const same = (name) => name;

function createNetworkClient({ model }) {
  const played = createScriptedClient(model.replace("counted/", "scripted/"), ({ origin }) => ({
    plan: plans.get(`${origin.dataset} ${origin.queryId}`),
    wireName: same,
    planName: same,
  }));
  return {
    id: model,
    async complete(request, signal) {
      const { dataset, queryId, rollout, party, position } = request.origin;
      appendFileSync(calls, `${JSON.stringify([dataset, queryId, rollout, party, position])}\n`);
      await new Promise(setImmediate);
      return played.complete(request, signal);
    },
  };
}

await makeRollouts(run, { createNetworkClient, env: process.env });
