// The command line: parse, run the command, turn errors into lines and exit codes.
import { Command, CommanderError } from "commander";
import { UsageError } from "../core/index.ts";
import { registryFileSchema } from "../models/index.ts";
import { readYaml } from "../runner/index.ts";
import { addBatchCommand } from "./batch.ts";
import { addCheckCommand } from "./check.ts";
import type { Host } from "./execute.ts";
import { addMcpCommand } from "./mcp.ts";
import { addModelsCommand } from "./models.ts";
import { addRunCommand } from "./run.ts";
import { createTerminal } from "./terminal.ts";
import { PROGRAM_VERSION } from "./version.ts";

const EXAMPLES = `
Examples:
  rollout run --config configs/example.yml      the example: bundled domains, scripted models, no key
  rollout single --list                         what there is to run
  rollout single --domains StudentAcademicPortal --limit 3 --verbose

Exit codes: 0 done, 1 a bug, 2 wrong usage, 3 done but infrastructure failures remain, 4 stopped by a budget, 130 interrupted.`;

/** Resolves to nothing; the exit code is set on the host, so that output is flushed before the process ends. */
export async function main(host: Host & Pick<NodeJS.Process, "argv" | "exitCode" | "stdin" | "once">): Promise<void> {
  const terminal = createTerminal(host);
  // a reader that went away, such as `head`, is no error
  host.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") host.exit(0);
    throw error;
  });
  const program = new Command("rollout")
    .description(
      "Makes multi-turn tool-calling dialogues: an agent model and a simulated user talk, the agent calls tools.",
    )
    .version(PROGRAM_VERSION)
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeErr: (text) => terminal.err(text.trimEnd()) });
  const done = (code: number) => {
    host.exitCode = code;
  };
  addRunCommand(program, host, done);
  addBatchCommand("single", program, host, done);
  addBatchCommand("cross", program, host, done);
  addCheckCommand(program, host, done);
  addMcpCommand(program, host, done);
  addModelsCommand(program, {
    print: (line) => terminal.out(line),
    env: host.env,
    loadRegistry: (file) => (file ? readYaml(file, registryFileSchema).models : {}),
  });
  try {
    await program.parseAsync(host.argv);
  } catch (error) {
    done(report(error, (text) => terminal.err(text)));
  }
}

function report(error: unknown, print: (text: string) => void): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    print(error.message);
    return 2;
  }
  print("This is a bug in rollout. Please report it with these lines:");
  print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}
