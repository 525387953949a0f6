// The Python processes of a run: started when needed, each serves many rollouts, and none sees more of this process's
// environment than it needs to run. They end with the pool, and with this process, however it ends.
import { availableParallelism } from "node:os";
import { messageOf, RolloutError, UsageError } from "../../core/index.ts";
import { isOutOfDescriptors, withDescriptors } from "../../files/index.ts";
import { RESULT_LIMIT } from "../cap.ts";
import { pythonEnvironment } from "../child-environment.ts";
import { PythonChild } from "./child.ts";
import { findPython } from "./find-python.ts";

export type PythonPoolOptions = {
  /** This process's environment: the children get a short list of its variables, never a key. */
  environment: Readonly<Record<string, string | undefined>>;
  /** an interpreter, or a virtual environment's folder; else `python3`, then `python` */
  python?: string;
  /** maximum number of processes; default: one per core, at most four */
  size?: number;
  /** milliseconds for one call */
  callTimeLimit?: number;
  /** milliseconds for loading a domain's servers */
  loadTimeLimit?: number;
  /** An ISO time, UTC by default: every rollout's clock starts there and repeats; if not set, the real clock. */
  clock?: string;
  /** one line for people, such as that descriptors are waited for */
  notice?: (message: string) => void;
  /** characters of a result that the model is shown */
  resultLimit?: number;
};

/** Sets of strings have one order in every process; text is UTF-8; nothing is written next to a dataset's files. */
const SET_FOR_ALL = {
  PYTHONHASHSEED: "0",
  PYTHONUTF8: "1",
  PYTHONIOENCODING: "utf-8:backslashreplace",
  PYTHONUNBUFFERED: "1",
  PYTHONDONTWRITEBYTECODE: "1",
};

export class PythonPool {
  readonly callTimeLimit: number;
  readonly loadTimeLimit: number;
  readonly resultLimit: number;
  readonly #options: PythonPoolOptions;
  readonly #size: number;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #clockStart: number | undefined;
  readonly #children = new Set<PythonChild>();
  readonly #sessionNames = new Set<string>();

  #python: Promise<string> | undefined;
  #closed = false;

  constructor(options: PythonPoolOptions) {
    this.#options = options;
    this.#size = options.size ?? Math.min(availableParallelism(), 4);
    this.callTimeLimit = options.callTimeLimit ?? 30_000;
    this.loadTimeLimit = options.loadTimeLimit ?? 120_000;
    this.resultLimit = options.resultLimit ?? RESULT_LIMIT;
    this.#environment = environmentOf(options);
    this.#clockStart = options.clock === undefined ? undefined : secondsOf(options.clock);
  }

  /** Throws a UsageError if no Python can run the servers. */
  async ready(): Promise<void> {
    await this.#interpreter();
  }

  /** A seat in the process with the fewest sessions, or in a new one while more are allowed and none is idle. */
  async takeSeat(): Promise<PythonChild> {
    const python = await this.#interpreter();
    return withDescriptors(() => this.#findSeat(python), { onWait: this.#options.notice });
  }

  #findSeat(python: string): PythonChild {
    if (this.#closed) throw new RolloutError("infrastructure", "The Python tools were closed", { retryable: true });
    const living = [...this.#children].filter((child) => !child.lost);
    let child = living.sort((a, b) => a.sessions - b.sessions)[0];
    if (!child || (child.sessions > 0 && living.length < this.#size)) child = this.#start(python, child);
    child.sessions++;
    return child;
  }

  /** A name unique among open sessions; from the seed, so that a replay gets the same one. */
  nameSession(seed: number): string {
    let name = `rollout-${seed}`;
    for (let n = 2; this.#sessionNames.has(name); n++) name = `rollout-${seed}-${n}`;
    this.#sessionNames.add(name);
    return name;
  }

  forgetSession(name: string): void {
    this.#sessionNames.delete(name);
  }

  processIds(): number[] {
    return [...this.#children].filter((child) => !child.lost).flatMap((child) => child.pid ?? []);
  }

  /** Ends every process at once. Servers keep their state in memory, so there is nothing to wait for. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const child of this.#children) child.kill("was ended with its pool");
    await Promise.all([...this.#children].map((child) => child.gone));
  }

  #interpreter(): Promise<string> {
    this.#python ??= findPython(this.#options.python, this.#environment);
    return this.#python;
  }

  /** If no further process can be started for want of descriptors, `other` has to do. */
  #start(python: string, other: PythonChild | undefined): PythonChild {
    let child: PythonChild;
    try {
      child = new PythonChild({ python, environment: this.#environment, clockStart: this.#clockStart });
    } catch (cause) {
      if (other && isOutOfDescriptors(cause)) return other;
      const message = `A Python process could not be started: ${messageOf(cause)}`;
      throw new RolloutError("infrastructure", message, { retryable: true, cause });
    }
    this.#children.add(child);
    child.gone.then(() => this.#children.delete(child)).catch(() => {});
    return child;
  }
}

function environmentOf({ environment, clock }: PythonPoolOptions): NodeJS.ProcessEnv {
  return { ...pythonEnvironment(environment), ...SET_FOR_ALL, ...(clock !== undefined && { TZ: "UTC" }) };
}

function secondsOf(time: string): number {
  const zoned = /[Zz]$|[+-]\d\d:?\d\d$/.test(time) || !time.includes("T") ? time : `${time}Z`;
  const milliseconds = Date.parse(zoned);
  if (Number.isNaN(milliseconds)) throw new UsageError(`"${time}" is not a time such as 2025-03-01T09:00:00Z`);
  return milliseconds / 1000;
}
