// What a child process gets of this process's environment: paths to programs, home folder, language. No keys are
// among these, so none reaches a server by accident.
import type { Variables } from "../core/index.ts";

const FOR_ALL = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];
const FOR_PYTHON = [
  ...["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"],
  ...["PYENV_ROOT", "PYENV_VERSION", "PYTHONPATH", "PYTHONHOME"],
];

export function isPassedOn(name: string): boolean {
  return FOR_ALL.includes(name);
}

export function childEnvironment(env: Variables): Record<string, string> {
  return pick(env, FOR_ALL);
}

/** A few more are needed to find an interpreter and its packages. */
export function pythonEnvironment(env: Variables): Record<string, string> {
  return pick(env, [...FOR_ALL, ...FOR_PYTHON]);
}

function pick(env: Variables, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
