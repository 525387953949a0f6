// The environment as commands see it, and what is left of it for everybody else. Datasets, checks and transforms in
// JavaScript run in this process: before any of them is loaded, variables with keys are gone from `process.env`.
import { findKeyKind, holdsHeaders, isSecretName, learnEnvironment } from "../core/index.ts";
import type { Host } from "./host.ts";

/** The process with an environment of its own, which still has every variable. */
export function takeEnvironment(process: Host): Host {
  const env = { ...process.env };
  learnEnvironment(env);
  for (const [name, value = ""] of Object.entries(env)) if (holdsKey(name, value)) delete process.env[name];
  return {
    ...{ env, stdout: process.stdout, stderr: process.stderr, stdin: process.stdin, argv: process.argv },
    ...{ on: process.on.bind(process), off: process.off.bind(process), once: process.once.bind(process) },
    ...{ emit: process.emit.bind(process), kill: process.kill.bind(process), pid: process.pid },
    ...{ exit: process.exit.bind(process), chdir: process.chdir.bind(process) },
    get exitCode() {
      return process.exitCode;
    },
    set exitCode(code) {
      process.exitCode = code;
    },
  };
}

/** By its name, by its shape, or because it is an address with a login. */
function holdsKey(name: string, value: string): boolean {
  return isSecretName(name) || holdsHeaders(name) || findKeyKind(value) !== undefined || /\w:\/\/[^/\s]+@/.test(value);
}

/** Takes away the variables that settings refer to: `${NAME}`, or, in a manifest, a key's NAME. */
export function hideVariables(...settings: unknown[]): void {
  const hide = (name: string) => {
    if (!USUAL.has(name)) delete process.env[name];
  };
  const search = (value: unknown, name = "", holder = ""): void => {
    if (typeof value === "string") {
      for (const [, variable = ""] of value.matchAll(/\$\{(\w+)/g)) hide(variable);
      if ((isSecretName(name) || holder === "env" || holder === "headers") && /^\w+$/.test(value)) hide(value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) search(member, key, name);
    }
  };
  search(settings);
}

/** What every program needs. */
const USUAL = new Set(["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"]);
