// The MCP servers of a finished run, which are in its config and not in a dataset folder, opened again. Models are not
// needed for that, nor whatever they need.
import { isObject, type Query, RolloutError, UsageError } from "../core/index.ts";
import { type Domain, loadMcpDomain, type RunResources } from "../domains/index.ts";
import type { Manifest } from "../runs/index.ts";
import { resolveManifest } from "./resolve.ts";

/** The tools of one dataset's servers, or why there are none. */
export function createServerOpener(manifest: Manifest, path: string, resources: Pick<RunResources, "mcp">) {
  return async (name: string, query: Query): Promise<Domain | string> => {
    const {
      models: _models,
      models_config_file: _file,
      dataset: _dataset,
      ...config
    } = isObject(manifest.config) ? manifest.config : {};
    const asked = { ...manifest, config } as Manifest;
    const run = resolveManifest(asked, path, { agent_model: "scripted/agent", user_model: "scripted/user" });
    const servers = run.datasets.find((spec) => spec.name === name)?.mcpServers;
    if (!servers) return "the run's config no longer names its MCP servers";
    try {
      return await loadMcpDomain(name, servers, resources.mcp(servers), { seed: 0, query });
    } catch (error) {
      // also a variable that is not set any more
      if (error instanceof RolloutError || error instanceof UsageError) return error.message;
      throw error;
    }
  };
}
