// `rollout mock-llm`: a model server for rehearsals, backed by the scripted models, with faults on request.
import { InvalidArgumentError } from "commander";
import { UsageError } from "../../core/index.ts";
import { createScriptFinder } from "../../domains/index.ts";
import { FAULT_KINDS, type MockServer, type RequestCounts, startMockServer } from "../../models/index.ts";
import { whole } from "../flags.ts";
import type { Configure, Host } from "../host.ts";
import { createTerminal } from "../printing/terminal.ts";

const HELP = `
Faults, at most one for a request:
  KIND=RATE      429=0.1,500=0.05          a share of requests, by seed and content: repeatable
  KIND=RATExN    503=0.02x3                each met N times in a row
  KIND@POSITION  429@3,reset@5-7           by order of arrival, among those that the fault can be done to
  429:30=0.1 asks for 30 s, 429:date for a date; slow:5000=0.1 lets a reply drip for 5 s
  kinds: ${FAULT_KINDS.slice(0, 12).join(" ")}
         ${FAULT_KINDS.slice(12).join(" ")}

Examples:
  rollout mock-llm
  rollout mock-llm --latency 200-1500 --faults 429=0.05,500=0.02,malformed=0.03 --fault-seed 7`;

type Flags = {
  port: number;
  host: string;
  latency?: { least: number; most: number };
  basePath?: string;
  faults?: string;
  faultSeed: number;
  inlineReasoning?: boolean;
  apiKeyEnv?: string;
};

export const configure: Configure = (command, host, done) => {
  command
    .option("--port <n>", "port; 0 takes any free one", whole(0), 8000)
    .option("--host <address>", "address to listen on; others than loopback are open to the network", "127.0.0.1")
    .option("--latency <ms>", "milliseconds before each answer, or MIN-MAX", latency)
    .option("--base-path <dir>", "know the queries of this dataset folder too")
    .option("--faults <spec>", "trouble to make, see below")
    .option("--fault-seed <n>", "seed of the trouble", whole(0), 0)
    .option("--inline-reasoning", "write reasoning into the text, between <think> tags")
    .option("--api-key-env <name>", "ask callers for the key that this environment variable holds")
    .addHelpText("after", HELP)
    .action(async (flags: Flags) => done(await serve(host, flags)));
};

async function serve(host: Host, flags: Flags): Promise<number> {
  const terminal = createTerminal(host);
  const scripts = createScriptFinder({ basePath: flags.basePath });
  const apiKey = flags.apiKeyEnv === undefined ? undefined : host.env[flags.apiKeyEnv];
  if (flags.apiKeyEnv !== undefined && !apiKey)
    throw new UsageError(`--api-key-env: the environment variable ${flags.apiKeyEnv} is not set`);
  const { port, latency, faults, faultSeed, inlineReasoning } = flags;
  const server = await startMockServer({
    findScript: scripts.find,
    host: flags.host,
    port,
    seed: faultSeed,
    latency,
    faults,
    inlineReasoning,
    apiKey,
  });
  const stopped = waitForInterrupt(host); // before announcing that there is something to stop
  terminal.out(`mock-llm is ready at ${server.url}, with ${scripts.size} queries to play. Stop it with Ctrl-C.`);
  for (const line of usageLines(server, flags)) terminal.out(line);
  await stopped;
  await server.close();
  for (const line of countLines(server.requests())) terminal.out(line);
  return 0;
}

/** A server on vLLM's own port needs no registry; any other does. */
function usageLines({ url, port }: MockServer, { host, apiKeyEnv }: Flags): string[] {
  if (port === 8000 && host === "127.0.0.1" && apiKeyEnv === undefined)
    return ["Use it with: --agent-model vllm/scripted-agent --user-model vllm/scripted-user"];
  const key = apiKeyEnv === undefined ? "" : `, api_key: "\${${apiKeyEnv}}"`;
  return [
    "Use it with: --models-config models.yml --agent-model openai/scripted-agent --user-model openai/scripted-user",
    "models.yml:",
    "models:",
    ...["agent", "user"].map((role) => `  scripted-${role}: {provider: openai, api_base: "${url}"${key}}`),
  ];
}

function countLines({ asked, replied, faults }: RequestCounts): string[] {
  const injected = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  return [
    `requests: ${asked}, whole replies: ${replied}`,
    ...(injected.length > 0 ? [`faults injected: ${injected.join(", ")}`] : []),
  ];
}

async function waitForInterrupt(host: Host): Promise<void> {
  let stop = () => {};
  await new Promise<void>((resolve) => {
    stop = resolve;
    host.on("SIGINT", stop);
    host.on("SIGTERM", stop);
  });
  host.off("SIGINT", stop);
  host.off("SIGTERM", stop);
}

function latency(text: string): { least: number; most: number } {
  const match = /^(\d+)(?:-(\d+))?$/.exec(text);
  const least = Number(match?.[1]);
  const most = Number(match?.[2] ?? match?.[1]);
  if (!match || most < least) throw new InvalidArgumentError("It must be milliseconds, such as 200 or 200-1500.");
  return { least, most };
}
