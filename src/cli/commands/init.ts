// `rollout init`: a working domain of one's own in a new folder, to be changed into the real one.
import { Option } from "commander";
import { STARTER_LANGUAGES, type StarterLanguage, writeStarter } from "../../domains/index.ts";
import type { Configure } from "../host.ts";
import { quote } from "../printing/shell-text.ts";
import { createTerminal } from "../printing/terminal.ts";

const EXAMPLES = `
Examples:
  rollout init CampusLibrary
  rollout init CampusLibrary --lang py
  rollout init CampusLibrary --lang mcp         an MCP server of its own, and a config that runs it`;

export const configure: Configure = (command, host, done) => {
  command
    .argument("<name>", "the domain's name, and its folder's")
    .addOption(new Option("--lang <lang>", "language of its tools").choices(STARTER_LANGUAGES).default("ts"))
    .addHelpText("after", EXAMPLES)
    .action((folder: string, { lang }: { lang: StarterLanguage }) => {
      const terminal = createTerminal(host);
      const { files } = writeStarter(folder, lang);
      for (const file of files) terminal.out(file);
      terminal.out("");
      terminal.out("Next:");
      for (const line of nextSteps(quote(folder), lang)) terminal.out(`  ${line}`);
      done(0);
    });
};

function nextSteps(folder: string, language: StarterLanguage): string[] {
  if (language === "mcp")
    return [`rollout check ${folder}/run.yml`, `rollout run --config ${folder}/run.yml --verbose`];
  const scripted = "--agent-model scripted/agent --user-model scripted/user";
  return [`rollout check ${folder}`, `rollout single --base-path ${folder} --all ${scripted} --verbose`];
}
