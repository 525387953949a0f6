// The Python processes of a run.
import { fileURLToPath } from "node:url";
import { UsageError } from "../../core/index.ts";
import { pythonEnvironment } from "../child-environment.ts";
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
}

function secondsOf(time: string): number {
  const zoned = /[Zz]$|[+-]\d\d:?\d\d$/.test(time) || !time.includes("T") ? time : `${time}Z`;
  const milliseconds = Date.parse(zoned);
  if (Number.isNaN(milliseconds)) throw new UsageError(`"${time}" is not a time such as 2025-03-01T09:00:00Z`);
  return milliseconds / 1000;
}
