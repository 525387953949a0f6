// A run in a process of its own, whose models play a plan, each reply so long after its request. Tells its parent what the
// run took: CPU time, that of the servers it started and saw end (Linux), and its largest size.
import { resolveConfig } from "../../dist/config/index.js";
import { createScriptedClient } from "../../dist/models/scripted/clients.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { timed } from "./measure.mjs";
import { childrenCpuMs } from "./processes.mjs";

const { config, folder, plan, latencyMs } = JSON.parse(process.argv[2]);
const same = (name) => name;

function createNetworkClient({ model }) {
  const name = model.replace("slow/", "scripted/");
  const client = createScriptedClient(name, () => ({ plan, wireName: same, planName: same }));
  return {
    id: name,
    async complete(request, signal) {
      await new Promise((resolve) => setTimeout(resolve, latencyMs));
      return client.complete(request, signal);
    },
  };
}

const run = resolveConfig({ ...config, agent_model: "slow/agent", user_model: "slow/user" }, { folder });
const { value, cpuMs, wallMs } = await timed(() => makeRollouts(run, { createNetworkClient }));
const { finished, failed } = value;
const peakMb = process.resourceUsage().maxRSS / 1024;
process.send({ finished, failed, cpuMs, wallMs, serversCpuMs: childrenCpuMs(), peakMb }, () => process.exit(0));
