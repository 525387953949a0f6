// The command line: find the command, load it, run it, turn errors into lines and exit codes.
import { Command, CommanderError } from "commander";
import { PROGRAM_VERSION, UsageError } from "../core/index.ts";
import { takeEnvironment } from "./environment.ts";
import type { Configure, Host } from "./host.ts";
import { createTerminal } from "./printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout run --config configs/example.yml      the example: bundled domains, scripted models, no key
  rollout single --list                         what there is to run
  rollout single --domains StudentAcademicPortal --limit 3 --verbose

Exit codes: 0 done, 1 a bug, 2 wrong usage, 3 done but infrastructure failures
(replay: differences; status --verify: damage) remain, 4 stopped by a budget,
130 interrupted.`;

/** Each is a file in `commands/`; only the one that is run is loaded. */
const COMMANDS = {
  init: "write a small working domain into a new folder, to start your own from",
  import: "make datasets of other people's benchmarks: tasks, plans, policies, and their own tools",
  run: "make the rollouts that a config file describes",
  single: "make rollouts of domains of a dataset folder",
  cross: "make rollouts of combinations of a dataset folder",
  multi: "answer plain questions several times each, into iter1.jsonl, iter2.jsonl, …",
  play: "play the agent or the user of a dialogue yourself, against a model, with the real tools",
  resume: "continue a run: finished rollouts are kept, the others go on where they stood",
  worker: "make rollouts of the runs on a queue (run --queue), on this machine and any number of others",
  queue: "what is on a queue: its runs and workers; takes a run off it",
  status: "how a run stands: done, running, waiting, failed, rate, tokens, money",
  show: "a run's rollouts and their verdicts, or one of them, readable: calls, times, what the checks found",
  view: "runs and dialogues in the browser, live: tables, pictures, every message with its evidence",
  merge: "put the shares of a run (--split) together into one run folder",
  sort: "put the trajectories of a run into their canonical order",
  replay: "make the recorded calls of runs again and compare results and final states with the records",
  eval: "score a run's rollouts into scores.jsonl; what is scored already is kept",
  report: "print what scored runs came to, and write report.html and report.json",
  export: "write trajectories of runs or files in a format that a trainer loads",
  label: "add to each record the system prompt and the tools that were really used",
  stats: "counts, lengths, tools and arguments, repeats of runs or files",
  validate: "check a dataset file against the rules of its format and of dialogues",
  check: "read a dataset folder or a config, start its servers, call its tools, report what is wrong or odd",
  doctor: "check this machine, and with a few short calls what a model's endpoint can do",
  models: "show what model names resolve to, from your registry and the offline catalogue",
  mcp: "domains as MCP servers",
  "mock-llm": "serve the scripted models over HTTP, with chosen latency and faults, to rehearse a run",
};

/** Where no terminal says how wide it is. */
const HELP_WIDTH = 100;

/** Returns nothing; the exit code is set on the host, so that output is flushed before the process ends. */
export async function main(process: Host): Promise<void> {
  const host = takeEnvironment(process);
  const terminal = createTerminal(host);
  // A reader that went away, such as `head`, is not an error: a run parks as if the terminal had hung up, anything else
  // leaves. A terminal that is gone says nothing yet; if its end is the end of the run, SIGHUP comes too.
  let isHungUp = false;
  const onStreamError = (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" && !host.emit("SIGHUP")) host.exit(host.exitCode ?? 0);
    if (error.code === "EIO" && !isHungUp) host.on("exit", () => host.kill(host.pid, "SIGHUP")); // Node itself would abort
    if (error.code === "EIO") isHungUp = true;
    else if (error.code !== "EPIPE") throw error;
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
    .configureHelp({
      helpWidth: host.stdout.columns || Number(host.env.COLUMNS) || HELP_WIDTH,
      optionTerm: ({ flags }) => flags.replace(/^--[\w-]+, /, ""), // a second name is in the description
    })
    .exitOverride()
    .configureOutput({ writeErr: (text) => terminal.err(text.trimEnd()) });
  const done = (code: number) => {
    host.exitCode = code;
  };
  const words = host.argv.slice(2).filter((word) => !word.startsWith("-"));
  const wanted = words[0] === "help" ? words[1] : words[0];
  try {
    for (const [name, description] of Object.entries(COMMANDS)) {
      const command = program.command(name).description(description);
      if (name === wanted) (await loadCommand(name)).configure(command, host, done);
    }
    await program.parseAsync(host.argv);
  } catch (error) {
    done(report(error, (text) => terminal.err(text)));
  }
  // whatever a dataset's code left running keeps nobody waiting
  setTimeout(() => host.exit(), MAX_END_MS).unref();
}

const MAX_END_MS = 2000;

function loadCommand(name: string): Promise<{ configure: Configure }> {
  return import(`./commands/${name}.ts`);
}

function report(error: unknown, print: (text: string) => void): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    print(error.message);
    return 2;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EMFILE" || code === "ENFILE") {
    print(
      "There are no more file descriptors, this process may not open another file. Raise the limit with ulimit -n 4096",
    );
    return 2;
  }
  print("This is a bug in rollout. Please report it with these lines:");
  print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}
