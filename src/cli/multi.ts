// `rollout multi`: many rollouts of plain questions, one file for each round.
import { type Command, Option } from "commander";
import { resolveQuestions } from "../runner/index.ts";
import { execute, type Host } from "./execute.ts";
import { amount, commandLine, list, overridesFrom, type RunFlags, temperature, whole } from "./options.ts";

type MultiFlags = RunFlags & {
  input: string;
  output: string;
  workers: number;
  mcp?: string;
  modelsConfig?: string;
  maxSteps?: number;
  agentTemperature?: number;
};

const EXAMPLES = `
Each line of the input holds id, query (or question) and, where it is known, answer.

Examples:
  rollout multi --input questions.jsonl --output outputs/questions --rollouts 5 --agent-model scripted/agent --eval
  rollout multi --input questions.jsonl --output outputs/questions --agent-model openai/gpt-5 --mcp mcp.json --workers 20
  rollout report outputs/questions`;

export function addMultiCommand(program: Command, host: Host, done: (code: number) => void): void {
  program
    .command("multi")
    .description("answer plain questions several times each, into iter1.jsonl, iter2.jsonl, …")
    .requiredOption("--input <file>", "questions (JSONL)")
    .requiredOption("--output <dir>", "the run folder")
    .option("--rollouts <n>", "attempts at each question; asking for more later adds only those", whole(1), 5)
    .option("--workers <n>", "rollouts at once", whole(1), 10)
    .option("--agent-model <name>", "model of the agent")
    .option("--mcp <file>", "a file with mcpServers, whose tools the agent may call")
    .option("--models-config <file>", "your models.yml")
    .option("--max-steps <n>", "steps of one rollout at most (default: 10)", whole(1))
    .option("--agent-temperature <t>", "temperature of the agent", temperature)
    .option("--limit <n>", "only the first n questions", whole(1))
    .option("--ids <a,b>", "only these questions", list)
    .option("--seed <n>", "seed of the run", whole(0))
    .option("--max-cost <dollars>", "stop, resumably, when the whole run has cost so much", amount)
    .option("--eval", "score each rollout as soon as it is finished")
    .option("--resume", "go on with an earlier run (the default)")
    .option("--no-resume", "start beside an earlier run, never over it")
    .option("--allow-drift", "go on although settings changed, and mark what is made from now on")
    .option("--no-retry-failed", "leave rollouts that failed for infrastructure reasons")
    .addOption(new Option("--output-dir <dir>", "the run folder, as rollout resume names it").hideHelp())
    .option("--dry-run", "show what would be done, and write nothing")
    .option("--quiet", "print nothing but errors")
    .option("--verbose", "print the agent's and the tools' texts as they come")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: MultiFlags) => {
      const config = {
        ...(flags.modelsConfig ? { models_config_file: flags.modelsConfig } : {}),
        ...(flags.maxSteps ? { max_steps_per_turn: flags.maxSteps } : {}),
        ...(flags.agentTemperature === undefined ? {} : { agent_temperature: flags.agentTemperature }),
      };
      const origin = { folder: flags.output, resumeCommand: commandLine("multi", flags) };
      const overrides = { ...overridesFrom(flags), maxWorkers: flags.workers };
      const questions = { input: flags.input, mcpFile: flags.mcp, config };
      done(await execute(host, resolveQuestions(questions, origin, overrides), flags));
    });
}
