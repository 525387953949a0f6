// `rollout doctor`: what works here, what does not, and the line that fixes it.
import { readModelsFile, resolveConfigFile, usualModelsFile } from "../../config/index.ts";
import { examineAll, type Section } from "../../doctor/index.ts";
import type { Finding, Fix } from "../../models/index.ts";
import type { Configure, Host } from "../host.ts";
import { createTerminal, printableName, type Terminal } from "../printing/terminal.ts";

type Flags = {
  config?: string;
  agentModel?: string;
  userModel?: string;
  modelsConfig?: string;
  outputDir: string;
  python?: string;
};

const HELP = `
Exit codes: 0 usable, 2 something here is to be mended (Node, folders, a model's name or key), 3 an endpoint does not do
what a rollout needs.

With models it makes about 20 short calls to each endpoint: three samples of every question, short replies only.

Examples:
  rollout doctor
  rollout doctor --config run.yml
  rollout doctor --agent-model deepseek/deepseek-chat --user-model deepseek/deepseek-chat
  rollout doctor --agent-model openai/my-model --models-config models.yml`;

export const configure: Configure = (command, host, done) => {
  command
    .option("-c, --config <file>", "a config: its models are examined with its settings")
    .option("--agent-model <name>", "a model that is to play the agent: tools, reasoning")
    .option("--user-model <name>", "a model that is to play the user")
    .option("--models-config <file>", "your models.yml (default: configs/models.yml, where it exists)")
    .option("--output-dir <dir>", "where runs are to go", "outputs")
    .option("--python <path>", "Python for dropped-in servers: an interpreter or a virtual environment")
    .addHelpText("after", HELP)
    .action(async (flags: Flags) => done(await examine(host, flags)));
};

async function examine(host: Host, flags: Flags): Promise<number> {
  const terminal = createTerminal(host);
  const stop = new AbortController();
  host.once("SIGINT", () => {
    stop.abort();
    host.exit(130);
  });
  let code = 0;
  const run = flags.config === undefined ? undefined : resolveConfigFile(flags.config);
  const sections = examineAll({
    models: { agent: flags.agentModel, user: flags.userModel },
    run,
    registry: { ...run?.registry, ...(run && !flags.modelsConfig ? {} : readModelsFile(flags.modelsConfig)) },
    env: host.env,
    outputs: flags.outputDir,
    nodeVersion: process.version,
    python: flags.python,
    signal: stop.signal,
  });
  for await (const section of sections) {
    for (const line of sectionLines(terminal, section, flags)) terminal.out(line);
    if (code === 0 && section.findings.some(({ level }) => level === "bad")) code = section.kind === "model" ? 3 : 2;
  }
  terminal.out(code === 0 ? "\nUsable." : "\nNot usable as it is: see what is marked with ✗.");
  return code;
}

const MARKS = { ok: ["green", "✓"], odd: ["yellow", "!"], bad: ["red", "✗"] } as const;

function sectionLines(terminal: Terminal, { title, findings }: Section, flags: Flags): string[] {
  const lines = findings.flatMap(({ level, text, said, hint, fix }: Finding) => {
    const [style, mark] = MARKS[level];
    return [
      `  ${terminal.paint(style, mark)} ${printableName(text)}`,
      ...(said ?? []).map((answer) => `      ${terminal.paint("dim", `it answered: ${printableName(answer)}`)}`),
      ...(fix ? [`      ${fixText(fix, flags)}`] : []),
      ...(hint ? [`      ${printableName(hint)}`] : []),
    ];
  });
  return ["", terminal.paint("bold", printableName(title)), ...lines];
}

/** The line, and where it goes. */
function fixText({ where, yaml }: Fix, { modelsConfig = usualModelsFile() ?? "models.yml" }: Flags): string {
  if (where === "config") return `in the config: ${yaml}`;
  if (where === "models") return `under the model in ${modelsConfig}: ${yaml}`;
  return `under "${where}:" of the dataset in the config: ${yaml}`;
}
