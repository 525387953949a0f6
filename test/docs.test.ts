import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startPostgres } from "./support/postgres.ts";
import { writePythonDataset } from "./support/python-dataset.ts";

// Every command in the README and the guides is run, in a folder like a reader's. Commands that name a provider on
// the network are run as far as possible without one: with --dry-run and a fake key.

const pages = ["README.md", "README_zh.md", ...guides("docs"), ...guides("docs/zh")];
const scripts = JSON.parse(readFileSync("package.json", "utf8")).scripts as { [name: string]: string };

function guides(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
}

/** The lines of a page's shell blocks, continued lines joined, comments left out. */
function commandsOf(page: string): string[] {
  const blocks = [...readFileSync(page, "utf8").matchAll(/```(?:bash|sh)\n([\s\S]*?)```/g)].map(
    ([, block]) => block as string,
  );
  const lines = blocks.flatMap((block) => block.replace(/\\\n\s*/g, " ").split("\n"));
  return lines.map((line) => line.replace(/\s+#.*$/, "").trim()).filter((line) => line !== "" && !line.startsWith("#"));
}

test.each(pages)("%s names only files and pages that exist", (page) => {
  for (const [, target] of readFileSync(page, "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
    expect(() => readdirOrFile(join(page, "..", target as string)), `${page} links to ${target}`).not.toThrow();
  }
});

// the guides to own domains are followed literally by a separate test, and both languages have the same commands
const commanding = ["README.md", ...guides("docs")].filter(
  (page) => commandsOf(page).length > 0 && !page.endsWith("domains.md"),
);

test.each(commanding)("the commands of %s run", async (page) => {
  const folder = readersFolder();
  await giveQueue(page, folder);
  let stop = async () => {};
  for (const command of commandsOf(page).flatMap((line) => line.split(/\s+&&\s+/))) {
    if (!isServer(command)) runCommand(command, folder);
    else {
      await stop();
      stop = await serve(command, folder);
    }
  }
  await stop();
});

test("both languages show the same commands", () => {
  for (const page of ["README.md", ...guides("docs")]) {
    const other = page === "README.md" ? "README_zh.md" : join("docs", "zh", basename(page));
    expect(commandsOf(other), other).toEqual(commandsOf(page));
  }
});

function readdirOrFile(path: string): void {
  try {
    readdirSync(path);
  } catch {
    readFileSync(path);
  }
}

function readersFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-docs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ["configs", "examples"]) cpSync(part, join(folder, part), { recursive: true });
  writePythonDataset(join(folder, "datasets"));
  mkdirSync(join(folder, "bin"));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve("bin/rollout.js")}' "$@"\n`;
  writeFileSync(join(folder, "bin", "rollout"), program);
  writeFileSync(
    join(folder, "bin", "npx"),
    '#!/bin/sh\n[ "$1" = rollout ] || { echo "npx $1 is not to be run here" >&2; exit 9; }\nshift\nexec rollout "$@"\n',
  );
  for (const name of ["rollout", "npx"]) chmodSync(join(folder, "bin", name), 0o755);
  return folder;
}

const NETWORK = /(?:deepseek|openai|openrouter|anthropic|google|mistral)\/\S+/;
const MAKES_ROLLOUTS = /rollout (?:run|single|cross|multi)\b/;

function isServer(command: string): boolean {
  return /mock-llm|mcp serve|rollout worker/.test(command) && !command.includes("--help");
}

/** A page about queues is read by somebody who has one. */
async function giveQueue(page: string, folder: string): Promise<void> {
  if (!commandsOf(page).some((command) => command.includes("ROLLOUT_QUEUE"))) return;
  const postgres = await startPostgres();
  onTestFinished(() => postgres.close());
  writeFileSync(join(folder, "queue"), postgres.url);
}

function runCommand(command: string, folder: string): void {
  const script = /^npm (?:run )?([\w:]+)/.exec(command)?.[1];
  if (script === "install" || script === "ci") return;
  if (script && script !== "start") expect(scripts, command).toHaveProperty(script);
  else runToEnd(script ? (scripts.start as string).replace("node bin/rollout.js", "rollout") : command, folder);
}

function runToEnd(command: string, folder: string): void {
  const needsNetwork = NETWORK.test(command) && MAKES_ROLLOUTS.test(command);
  const whole = needsNetwork && !command.includes("--dry-run") ? `${command} --dry-run` : command;
  try {
    execFileSync("bash", ["-c", whole], {
      cwd: folder,
      env: readersEnvironment(folder),
      encoding: "utf8",
      stdio: "pipe",
    });
  } catch (error) {
    const { stdout, stderr, status } = error as { stdout: string; stderr: string; status: number };
    throw new Error(`${whole}\nexit ${status}\n${stdout}\n${stderr}`);
  }
}

/**
 * A server is started and waited for; it runs during the page's other commands, until the page starts another one, and
 * stops as a reader would stop it.
 */
async function serve(command: string, folder: string): Promise<() => Promise<void>> {
  const server = spawn("bash", ["-c", `exec ${command.replace(/^npx /, "")}`], {
    cwd: folder,
    env: readersEnvironment(folder),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let text = "";
  await new Promise<void>((resolve) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.on("data", (chunk) => {
        text += chunk;
        resolve();
      });
    }
    setTimeout(resolve, 5000);
  });
  return async () => {
    const left = once(server, "exit");
    server.kill("SIGINT");
    server.stdin.end();
    // a worker that is asked to leave was interrupted
    expect((await left)[0], `${command}\n${text}`).toBe(command.includes("rollout worker") ? 130 : 0);
  };
}

function readersEnvironment(folder: string): NodeJS.ProcessEnv {
  const keys = ["DEEPSEEK", "OPENAI", "OPENROUTER", "ANTHROPIC", "GEMINI", "MISTRAL", "MY"];
  const named = keys.map((name) => [name === "MY" ? "MY_KEY" : `${name}_API_KEY`, "not-a-real-key"]);
  const queue = existsSync(join(folder, "queue")) ? { ROLLOUT_QUEUE: readFileSync(join(folder, "queue"), "utf8") } : {};
  return {
    ...queue,
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    HOME: folder,
    LANG: "C.UTF-8",
    ...Object.fromEntries(named),
  };
}
