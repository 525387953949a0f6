// What a command gets from its process, and how it ends.
import type { Command } from "commander";

export type Host = Pick<
  NodeJS.Process,
  | "stdout"
  | "stderr"
  | "stdin"
  | "env"
  | "argv"
  | "on"
  | "off"
  | "once"
  | "emit"
  | "kill"
  | "pid"
  | "exit"
  | "exitCode"
  | "chdir"
>;

/** Adds a command's arguments, flags and action to it; `done` takes the exit code. */
export type Configure = (command: Command, host: Host, done: (code: number) => void) => void;
