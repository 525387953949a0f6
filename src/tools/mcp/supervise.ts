// A child process that cannot outlive us. It runs in its own process group with a watcher, a small shell that holds
// the other end of a pipe to us. When that pipe closes, on purpose or because of a kill -9, the watcher ends the
// whole group: the server, what `npx` put around it, all it started. A server that ignores the end of its input, or
// SIGTERM, still dies. Needs only a POSIX shell. Not contained: a process that leaves its group with setsid.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { WATCHED } from "../supervised.ts";

export type SupervisedOptions = {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  /** removed with the server, even if we are gone */
  folder: string;
};

export class Supervised {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** how the server ended, as a phrase; never rejects */
  readonly exited: Promise<string>;
  readonly #lifeline: Writable & Readable;
  readonly #groupGone: Promise<unknown>;

  constructor({ command, args, env, cwd, folder }: SupervisedOptions) {
    const child = spawn("/bin/sh", ["-c", WATCHED, "sh", folder, command, ...args], {
      env,
      cwd,
      detached: true, // its own process group, which Ctrl-C in the terminal does not reach
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    const failed = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(`could not be started: ${error.message}`));
    });
    if (!child.stdin) throw Object.assign(new Error("could not be started: too many open files"), { code: "EMFILE" });
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.#lifeline = child.stdio[3] as Writable & Readable;
    this.#groupGone = new Promise((resolve) => this.#lifeline.once("close", resolve));
    this.#lifeline.on("error", () => {}).resume();
    this.stdin.on("error", () => {}); // the exit says more than EPIPE does
    const exit = new Promise<string>((resolve) => child.once("exit", () => resolve(exitPhrase(child, command))));
    this.exited = Promise.race([failed, exit]);
    void this.exited.then(() => this.kill()); // what the server left behind is ended with it
  }

  /** Closes the server's input, gives it `graceMs` to leave, then ends the group. Resolves when no process is left. */
  async stop(graceMs: number): Promise<void> {
    this.stdin.end();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.exited, new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))]);
    clearTimeout(timer);
    this.#lifeline.end();
    await this.#groupGone;
  }

  kill(): void {
    if (this.#lifeline.writable) this.#lifeline.end("now\n");
  }
}

function exitPhrase(child: ChildProcess, command: string): string {
  if (child.signalCode) return `was ended by ${child.signalCode}`;
  if (child.exitCode === 127) return `could not be started: "${command}" was not found`;
  if (child.exitCode === 126) return `could not be started: "${command}" is not executable`;
  return `exited with code ${child.exitCode}`;
}
