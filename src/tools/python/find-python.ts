// Which Python runs the servers: the one that was named, else the first of `python3` and `python` that works. The answer
// is the interpreter itself, found once: a version manager's shim would choose by folder and cost time at each start.
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "../../core/index.ts";

const NEEDED = "Python 3.9 or newer";
const QUESTION = "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])";

export async function findPython(named: string | undefined, environment: NodeJS.ProcessEnv): Promise<string> {
  const candidates = named === undefined ? ["python3", "python"] : [executable(named)];
  const problems: string[] = [];
  for (const candidate of candidates) {
    const answer = await ask(candidate, environment);
    if ("interpreter" in answer) return answer.interpreter;
    problems.push(`${candidate} ${answer.problem}`);
  }
  const advice = named === undefined ? "install it, or name one with --python PATH" : "give --python another one";
  throw new UsageError(`The tools of this dataset need ${NEEDED}, but ${problems.join(" and ")}: ${advice}.`);
}

/** A path is relative to our folder, although the children have their own; a virtual environment's folder works too. */
function executable(named: string): string {
  if (!/[/\\]/.test(named) && !isFolder(named)) return named;
  const path = resolve(named);
  return isFolder(path) ? join(path, "bin", "python") : path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

type Answer = { interpreter: string } | { problem: string };

function ask(command: string, environment: NodeJS.ProcessEnv): Promise<Answer> {
  return new Promise((done) => {
    execFile(command, ["-S", "-c", QUESTION], { env: environment, timeout: 20_000 }, (error, stdout) => {
      if (error) return done({ problem: error.code === "ENOENT" ? "was not found" : "does not run" });
      const [interpreter = "", version = ""] = stdout.trim().split(/\r?\n/).slice(-2);
      const [major = 0, minor = 0] = version.split(".").map(Number);
      const recent = major > 3 || (major === 3 && minor >= 9);
      done(recent ? { interpreter: interpreter || command } : { problem: `is version ${version}` });
    });
  });
}
