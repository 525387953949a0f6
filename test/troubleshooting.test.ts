// The troubleshooting page names only commands and flags that there are, and both languages name the same ones.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fullHelp, workFolder } from "./support/cli.ts";

function commandsIn(page: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(/`(rollout [^`]+)`/g)].map(([, command = ""]) => command);
}

test("every command and flag of the troubleshooting page exists", async () => {
  const commands = commandsIn("docs/troubleshooting.md");
  expect(commands.length).toBeGreaterThan(15);
  expect(commandsIn("docs/zh/troubleshooting.md")).toEqual(commands);
  const work = workFolder();
  const helps = new Map<string, string>();
  for (const command of commands) {
    const name = command.split(" ")[1] as string;
    if (!helps.has(name)) {
      const { code, stdout } = await work.run([name, fullHelp(name)]);
      expect(code, command).toBe(0);
      helps.set(name, stdout);
    }
    for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect(helps.get(name), command).toContain(flag);
  }
});
