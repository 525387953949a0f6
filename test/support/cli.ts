// The command line as a user runs it: real processes of the built program, each in its own working folder.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Trajectory } from "../../src/core/index.ts";

export const PROGRAM = fileURLToPath(new URL("../../bin/rollout.js", import.meta.url));

export type Finished = { code: number | null; stdout: string; stderr: string };
export type Running = { child: ChildProcess; finished: Promise<Finished> };
export type Start = { env?: NodeJS.ProcessEnv };

export class WorkFolder {
  readonly path: string;
  readonly #running = new Set<ChildProcess>();

  constructor(path: string) {
    this.path = path;
  }

  /** Runs `rollout …` here, to its end. */
  run(args: string[], options: Start = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  start(args: string[], { env = {} }: Start = {}): Running {
    const { FORCE_COLOR: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: this.path, env: { ...inherited, ...env } });
    this.#running.add(child);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const finished = new Promise<Finished>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, stdout, stderr }));
    });
    child.on("exit", () => this.#running.delete(child));
    return { child, finished };
  }

  /** What a test that failed half-way, or had no more use for it, has left running. */
  killRunning(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.path, file)), { recursive: true });
    writeFileSync(join(this.path, file), text);
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), "utf8");
  }

  has(file: string): boolean {
    return existsSync(join(this.path, file));
  }

  remove(file: string): void {
    rmSync(join(this.path, file), { recursive: true });
  }

  /** The names in this folder, to prove that nothing was written. */
  names(): string[] {
    return readdirSync(this.path).sort();
  }

  records<T = Trajectory>(file: string): T[] {
    return this.read(file)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as T);
  }

  /** The records in the form in which runs are compared: sorted by key, without timings. */
  canonical(file: string): object[] {
    return this.records(file)
      .map(({ metadata: { timings: _, ...metadata }, ...record }) => ({ ...record, metadata }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async until(file: string): Promise<void> {
    while (!this.has(file)) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Until the program has said that it stops: what a second Ctrl-C must not come before. */
export function untilStopping({ stderr }: ChildProcess): Promise<void> {
  let said = "";
  return new Promise((resolve) =>
    stderr?.on("data", (text: string) => {
      said += text;
      if (said.includes("Stopping")) resolve();
    }),
  );
}

/** An empty working folder that is removed after the test. */
export function workFolder(): WorkFolder {
  const path = mkdtempSync(join(tmpdir(), "rollout-cli-"));
  const folder = new WorkFolder(path);
  onTestFinished(() => {
    folder.killRunning();
    rmSync(path, { recursive: true, force: true });
  });
  return folder;
}

/** The arguments of a quiet run of a bundled domain into `out`. */
export const single = (...more: string[]) => [
  "single",
  "--domains",
  "StudentHealthServices",
  "--bundled",
  "--output-dir",
  "out",
  "--quiet",
  ...more,
];

/** The commands that run rollouts: their `--help` leaves out what few people need. */
export const RUNNING = ["run", "single", "cross", "multi", "resume"];

/** The flag with which a command's help is complete. */
export const fullHelp = (command = "") => (RUNNING.includes(command) ? "--help-all" : "--help");

/** What a run without a terminal prints to standard error as it goes on, and other commands on a slow machine. */
export const PROGRESS =
  /^(\d+\/\d+ done · .*|(no|\d+) (rollouts?|records|rows) (scored|read|verified|checked)( yet)?|reading the \w+)\n/gm;
