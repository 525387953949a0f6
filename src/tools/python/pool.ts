// The Python processes of a run.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type ToolSpec, UsageError } from "../../core/index.ts";
import { pythonEnvironment } from "../child-environment.ts";
import { LostChild } from "../children/child.ts";
import { loadError } from "../children/environment.ts";
import { ChildPool, type ChildPoolOptions } from "../children/pool.ts";
import { findPython } from "./find-python.ts";

export type PythonPoolOptions = ChildPoolOptions & {
  /** This process's environment: the children get a short list of its variables, never a key. */
  environment: Readonly<Record<string, string | undefined>>;
  /** an interpreter, or a virtual environment's folder; else `python3`, then `python` */
  python?: string;
  /** An ISO time, UTC by default: every rollout's clock starts there and repeats; if not set, the real clock. */
  clock?: string;
};

const BRIDGE = fileURLToPath(new URL("./bridge.py", import.meta.url));

/** Sets of strings have one order in every process; text is UTF-8; nothing is written next to a dataset's files. */
const SET_FOR_ALL = {
  PYTHONHASHSEED: "0",
  PYTHONUTF8: "1",
  PYTHONIOENCODING: "utf-8:backslashreplace",
  PYTHONUNBUFFERED: "1",
  PYTHONDONTWRITEBYTECODE: "1",
};

export class PythonPool extends ChildPool {
  constructor(options: PythonPoolOptions) {
    const { clock } = options;
    const start = clock === undefined ? [] : [String(secondsOf(clock))];
    const environment = {
      ...pythonEnvironment(options.environment),
      ...SET_FOR_ALL,
      ...(clock !== undefined && { TZ: "UTC" }),
    };
    const launch = async () => {
      const python = await findPython(options.python, environment);
      return {
        command: (): [string, ...string[]] => [python, BRIDGE, ...start],
        environment,
        kind: "python",
      };
    };
    super("Python", launch, options);
  }

  /** The tools of a file of plain functions. Throws a UsageError if it cannot be loaded. */
  async describe(file: string): Promise<ToolSpec[]> {
    const child = await this.takeSeat(file);
    child.arrive();
    try {
      const reply = await child.request({ op: "describe", files: [resolve(file)] }, this.loadTimeLimit);
      if (reply.unusable !== undefined) throw loadError(reply);
      const [tools = []] = reply.tools as unknown as Omit<ToolSpec, "readOnly">[][];
      return tools.map((tool) => ({ ...tool, readOnly: true }));
    } catch (error) {
      if (error instanceof LostChild) throw new UsageError(`cannot be loaded: Python ${error.message}`, { file });
      throw error;
    } finally {
      child.sessions--;
    }
  }
}

function secondsOf(time: string): number {
  const zoned = /[Zz]$|[+-]\d\d:?\d\d$/.test(time) || !time.includes("T") ? time : `${time}Z`;
  const milliseconds = Date.parse(zoned);
  if (Number.isNaN(milliseconds)) throw new UsageError(`"${time}" is not a time such as 2025-03-01T09:00:00Z`);
  return milliseconds / 1000;
}
