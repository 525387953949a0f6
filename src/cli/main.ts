// The command line: parse, run the command, turn errors into lines and exit codes.
import { Command, CommanderError } from "commander";
import { UsageError } from "../core/index.ts";
import { registryFileSchema } from "../models/index.ts";
import { readYaml } from "../runner/index.ts";
import { addBatchCommand } from "./batch.ts";
import { addCheckCommand } from "./check.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addEvalCommand } from "./eval.ts";
import type { Host } from "./execute.ts";
import { addExportCommand } from "./export.ts";
import { addLabelCommand } from "./label.ts";
import { addMcpCommand } from "./mcp.ts";
import { addMockLlmCommand } from "./mock-llm.ts";
import { addModelsCommand } from "./models.ts";
import { addMultiCommand } from "./multi.ts";
import { addReportCommand } from "./report.ts";
import { addResumeCommand } from "./resume.ts";
import { addRunCommand } from "./run.ts";
import { addShowCommand } from "./show.ts";
import { addSortCommand } from "./sort.ts";
import { addStatsCommand } from "./stats.ts";
import { addStatusCommand } from "./status.ts";
import { createTerminal, printable } from "./terminal.ts";
import { addValidateCommand } from "./validate.ts";
import { PROGRAM_VERSION } from "./version.ts";

const EXAMPLES = `
Examples:
  rollout run --config configs/example.yml      the example: bundled domains, scripted models, no key
  rollout single --list                         what there is to run
  rollout single --domains StudentAcademicPortal --limit 3 --verbose

Exit codes: 0 done, 1 a bug, 2 wrong usage, 3 done but infrastructure failures remain, 4 stopped by a budget, 130 interrupted.`;

/** Wide enough that few flags need a second line. */
const HELP_WIDTH = 100;

/** Resolves to nothing; the exit code is set on the host, so that output is flushed before the process ends. */
export async function main(
  host: Host & Pick<NodeJS.Process, "argv" | "exitCode" | "stdin" | "once" | "chdir">,
): Promise<void> {
  const terminal = createTerminal(host);
  // a reader that went away, such as `head`, is no error; a run that is under way has set the code of an interrupted one
  const onStreamError = (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") host.exit(host.exitCode ?? 0);
    throw error;
  };
  host.stdout.on("error", onStreamError);
  host.stderr.on("error", onStreamError);
  const program = new Command("rollout")
    .description(
      "Makes multi-turn tool-calling dialogues: an agent model and a simulated user talk, the agent calls tools.",
    )
    .version(PROGRAM_VERSION)
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError()
    .configureHelp({ helpWidth: Math.max(host.stdout.columns ?? 0, HELP_WIDTH) })
    .exitOverride()
    .configureOutput({ writeErr: (text) => terminal.err(text.trimEnd()) });
  const done = (code: number) => {
    host.exitCode = code;
  };
  addRunCommand(program, host, done);
  addBatchCommand("single", program, host, done);
  addBatchCommand("cross", program, host, done);
  addResumeCommand(program, host);
  addStatusCommand(program, host, done);
  addShowCommand(program, host, done);
  addSortCommand(program, host, done);
  addMultiCommand(program, host, done);
  addEvalCommand(program, host, done);
  addExportCommand(program, host, done);
  addLabelCommand(program, host, done);
  addStatsCommand(program, host, done);
  addValidateCommand(program, host, done);
  addReportCommand(program, host, done);
  addCheckCommand(program, host, done);
  addDoctorCommand(program, host, done);
  addMcpCommand(program, host, done);
  addMockLlmCommand(program, host, done);
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
    print(printable(error.message));
    return 2;
  }
  print("This is a bug in rollout. Please report it with these lines:");
  print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}
