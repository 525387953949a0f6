// `rollout mcp serve`: any domain as a real MCP server.
import { DatasetLocator } from "../../config/index.ts";
import { loadDomain, openResources, requireStart } from "../../domains/index.ts";
import { serveDomain } from "../../tools/index.ts";
import { whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { createTerminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout mcp serve StudentAcademicPortal                          over standard input and output
  rollout mcp serve StudentAcademicPortal+StudentHealthServices --http 8123
  rollout mcp serve MyDomain --base-path datasets/single_domain

In another tool's configuration:
  {"mcpServers": {"portal": {"command": "npx", "args": ["-y", "agent-rollout", "mcp", "serve", "StudentAcademicPortal"]}}}`;

type ServeFlags = { basePath?: string; http?: number; seed: number; python?: string };

export const configure: Configure = (command, host, done) => {
  command
    .addHelpText("after", EXAMPLES)
    .command("serve <name>")
    .description("serve a domain or a combination (A+B) to any MCP client; every session has a state of its own")
    .option(
      "--http <port>",
      "streamable HTTP on this loopback port (0: a free one) instead of standard input and output",
      whole(0),
    )
    .option("--base-path <dir>", "dataset folder (default: the bundled domains)")
    .option("--seed <n>", "seed of generated ids and times", whole(0), 0)
    .option("--python <path>", "Python for dropped-in servers: an interpreter or a virtual environment")
    .addHelpText("after", EXAMPLES)
    .action(async (name: string, flags: ServeFlags) => {
      await serve(host, name, flags);
      done(0);
    });
};

async function serve(host: Host, name: string, flags: ServeFlags): Promise<void> {
  const terminal = createTerminal(host);
  const resources = openResources({
    env: host.env,
    nameStyle: "prefixed",
    onNotice: (text) => terminal.err(text),
    python: flags.python,
  });
  try {
    const locator = new DatasetLocator({ base_path: flags.basePath });
    const { files } = locator.findDataset({ name, mcpDomain: name });
    const domain = await loadDomain(files, resources);
    await requireStart(domain, files);
    const serving = await serveDomain(
      {
        name: domain.name,
        tools: domain.toolbox.tools,
        open: (seed) => domain.openEnvironment({ seed }),
        seed: flags.seed,
        instructions: domain.policy,
      },
      flags.http === undefined
        ? { kind: "stdio", input: host.stdin, output: host.stdout }
        : { kind: "http", port: flags.http },
    );
    const stop = () => void serving.close();
    host.once("SIGINT", stop);
    host.once("SIGTERM", stop);
    // standard output belongs to the protocol
    if (serving.url)
      terminal.err(`${domain.name} with ${domain.toolbox.tools.length} tools at ${serving.url} (Ctrl-C stops it)`);
    await serving.closed;
  } finally {
    await resources.close();
  }
}
