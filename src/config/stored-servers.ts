// The tools of a finished run that are in its config and not in a dataset folder (MCP servers, functions, a corpus),
// opened again. Models are not needed for that, nor whatever they need.
import { isObject, type Query, RolloutError, UsageError } from "../core/index.ts";
import { type Domain, loadMcpDomain, openSources, type RunResources } from "../domains/index.ts";
import type { Manifest } from "../runs/index.ts";
import { resolveManifest } from "./resolve.ts";

/** One dataset's tools, or why there are none. */
export function createServerOpener(manifest: Manifest, path: string, resources: RunResources) {
  return async (name: string, query: Query): Promise<Domain | string> => {
    const {
      models: _models,
      models_config_file: _file,
      dataset: _dataset,
      ...config
    } = isObject(manifest.config) ? manifest.config : {};
    const asked = { ...manifest, config } as Manifest;
    const run = resolveManifest(asked, path, { agent_model: "scripted/agent", user_model: "scripted/user" });
    const spec = run.datasets.find((each) => each.name === name);
    const { mcpServers: servers } = spec ?? {};
    if (!spec || !(servers || spec.ownTools)) return "the run's config no longer names its tools";
    const openServers = () => loadMcpDomain(name, servers ?? {}, resources.mcp(servers ?? {}), { seed: 0, query });
    try {
      return await openSources(spec, resources, openServers);
    } catch (error) {
      // also a variable that is not set any more
      if (error instanceof RolloutError || error instanceof UsageError) return error.message;
      throw error;
    }
  };
}
