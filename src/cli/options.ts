// Flags that several commands share, checked as they are parsed.
import { type Command, InvalidArgumentError, Option } from "commander";
import { MODES } from "../core/index.ts";
import { type Overrides, quote } from "../runner/index.ts";

export function whole(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < least)
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
    return number;
  };
}

export function temperature(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0)) throw new InvalidArgumentError("It must be a number of at least 0.");
  return number;
}

export function amount(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return number;
}

export function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** What a run may be told on the command line: settings of the run itself, and how this command shows it. */
export type RunFlags = Omit<Overrides, "dataset"> & {
  quiet?: boolean;
  verbose?: boolean;
  json?: boolean;
  dryRun?: boolean;
  record?: string;
  replay?: string;
  pilot?: number;
};

/** What `run`, `single` and `cross` have in common. */
export function addRunOptions(command: Command): Command {
  return command
    .option("--agent-model <name>", "model of the agent")
    .option("--user-model <name>", "model of the simulated user")
    .option("--max-workers <n>", "rollouts at once", whole(1))
    .option("--output-dir <dir>", "the run folder")
    .option("--limit <n>", "only the first n queries of each dataset", whole(1))
    .option("--ids <a,b>", "only these queries", list)
    .option("--rollouts <n>", "attempts at each query (default: 1); asking for more later adds only those", whole(1))
    .option("--eval", "score each rollout as soon as it is finished")
    .option("--seed <n>", "seed of the run", whole(0))
    .addOption(new Option("--mode <mode>", "which tools the agent is offered").choices([...MODES]))
    .option("--max-cost <dollars>", "stop, resumably, when the whole run has cost so much", amount)
    .option("--max-tokens-total <n>", "stop, resumably, when the whole run has used so many tokens", whole(1))
    .option("--python <path>", "Python for dropped-in servers: an interpreter or a virtual environment")
    .option("--bundled", "the bundled domains, even where ./datasets exists")
    .option("--resume", "go on with an earlier run (the default)")
    .option("--no-resume", "start beside an earlier run, never over it")
    .option("--allow-drift", "go on although settings changed, and mark what is made from now on")
    .option("--no-retry-failed", "leave rollouts that failed for infrastructure reasons")
    .option("--record <dir>", "record every model call into a folder of cassettes")
    .option("--replay <dir>", "answer model calls from recorded cassettes: no network, no key")
    .option("--dry-run", "show what would be done and about what it takes, and write nothing")
    .option("--pilot <n>", "make n rollouts of each dataset into a folder beside, and extrapolate", whole(1))
    .option("--quiet", "print nothing but errors")
    .option("--verbose", "print agent, user and tool texts as they come")
    .option("--json", "print every event of the run as one line of JSON, and nothing else");
}

/** The command as it was given, less what only starts a run beside: for going on with that run. */
export function commandLine(command: string, flags: object): string {
  const words = Object.entries(flags).flatMap(([flag, value]: [string, unknown]) => {
    const name = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (flag === "resume" || (ON_BY_DEFAULT.has(flag) && value === true)) return [];
    if (value === true) return [name];
    if (value === false) return [name.replace("--", "--no-")];
    const joined = flag === "ids" ? [(value as string[]).join(",")] : [value].flat();
    return [name, ...joined.map((word) => quote(String(word)))];
  });
  return ["rollout", command, ...words].join(" ");
}

const ON_BY_DEFAULT = new Set(["thinking", "retryFailed"]);

/** The flags that a run knows, without those that were not given and those that only concern the printing. */
export function overridesFrom(flags: RunFlags): Overrides {
  const { quiet: _quiet, verbose: _verbose, dryRun: _dryRun, ...rest } = flags;
  const known: (keyof Overrides)[] = [
    ...(["outputDir", "resume", "seed", "limit", "ids", "mode", "maxWorkers", "allowDrift", "retryFailed"] as const),
    ...(["rollouts", "eval", "agentModel", "userModel", "bundled", "maxCost", "maxTokensTotal", "python"] as const),
  ];
  const given = Object.entries(rest).filter(
    ([flag, value]) => known.includes(flag as keyof Overrides) && value !== undefined,
  );
  return Object.fromEntries(given) as Overrides;
}
