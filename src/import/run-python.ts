// The importer's own Python: a benchmark's code tells what it has, in a process of its own.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type JsonObject, parseExact, type Variables } from "../core/index.ts";
import { findPython, pythonEnvironment } from "../tools/index.ts";
import { serverFile } from "./write-dataset.ts";

const MAX_SECONDS = 300;
const MAX_BYTES = 1 << 30;

/** The one named, else the checkout's own virtual environment, else the usual one. */
export function choosePython(folder: string, named: string | undefined, env: Variables): Promise<string> {
  const own = join(folder, ".venv");
  return findPython(named ?? (existsSync(own) ? own : undefined), pythonEnvironment(env));
}

export type Described = { described: JsonObject } | { problem: string };

export function askServer(python: string, server: string, args: string[], env: Variables): Promise<Described> {
  const options = { env: pythonEnvironment(env), timeout: MAX_SECONDS * 1000, maxBuffer: MAX_BYTES };
  return new Promise((done) => {
    execFile(python, [serverFile(server), ...args, "--describe"], options, (error, stdout, stderr) => {
      const described = error ? undefined : (parseExact(stdout) as JsonObject | undefined);
      if (described) return done({ described });
      const last = stderr.trim().split(/\r?\n/).at(-1);
      done({ problem: last || error?.message || "it answered nothing" });
    });
  });
}
