// A crash test like SQLite's: the same run again and again, killed at its 1st, 2nd, 3rd… operation on a file, resumed each
// time, and compared with a run that was not killed. Real processes, real kills, real files.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../../../src/config/index.ts";
import { type EntryEnd, parseJson, type Trajectory } from "../../../src/core/index.ts";

export type KillHow = "before" | "torn" | "after";
export type Kill = { at: number; how: KillHow };

const HERE = fileURLToPath(new URL(".", import.meta.url));
const DIST = fileURLToPath(new URL("../../../dist", import.meta.url));

export class CrashSweep {
  readonly #config: Config;
  readonly #dist: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "rollout-crash-"));
  #expected: string[] = [];
  #operations = 0;

  constructor(config: Config, dist = DIST) {
    this.#config = config;
    this.#dist = dist;
  }

  /** The run that is not killed; returns how many operations it took. */
  async prepare(): Promise<number> {
    const { status, operations, errors } = await this.#run("unkilled");
    if (status !== 0) throw new Error(`the unkilled run failed: ${errors}`);
    this.#expected = canonicalRecords(join(this.#folder, "unkilled"));
    this.#operations = operations;
    return operations;
  }

  get records(): number {
    return this.#expected.length;
  }

  /** Kills a run once, resumes it, and returns what is wrong with the result: nothing if all is well. */
  async try({ at, how }: Kill): Promise<{ killed: boolean; problems: string[] }> {
    const name = `${how}-${at}`;
    const { status } = await this.#run(name, { at, how });
    const killed = status !== 0;
    const problems = killed ? await this.#resume(name) : [];
    problems.push(...this.#compare(name));
    rmSync(join(this.#folder, name), { recursive: true, force: true });
    return { killed, problems: problems.map((problem) => `killed ${how} operation ${at}: ${problem}`) };
  }

  /** Kills one run over and over, each time a little later, until it finishes. */
  async tryOverAndOver(first: number, more: number): Promise<{ kills: number; problems: string[] }> {
    const problems: string[] = [];
    rmSync(join(this.#folder, "over"), { recursive: true, force: true });
    for (let kills = 0; kills < 200; kills++) {
      const recorded = recordedCalls(join(this.#folder, "over"));
      const { status, calls } = await this.#run("over", { at: first + kills * more, how: HOWS[kills % 3] as KillHow });
      problems.push(...repeated(calls, recorded));
      if (status === 0) return { kills, problems: [...problems, ...this.#compare("over")] };
    }
    return { kills: 200, problems: [...problems, "it never came to its end"] };
  }

  get operations(): number {
    return this.#operations;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #resume(name: string): Promise<string[]> {
    const recorded = recordedCalls(join(this.#folder, name));
    const { status, calls, errors } = await this.#run(name);
    return [...(status === 0 ? [] : [`it could not be resumed: ${errors}`]), ...repeated(calls, recorded)];
  }

  #compare(name: string): string[] {
    const folder = join(this.#folder, name);
    const records = canonicalRecords(folder);
    const problems: string[] = [];
    if (records.length !== this.#expected.length)
      problems.push(`${records.length} records instead of ${this.#expected.length}`);
    const different = records.find((record, index) => record !== this.#expected[index]);
    if (different) problems.push(`another record: ${different.slice(0, 300)}`);
    for (const { file, line } of brokenLines(folder)) problems.push(`${file} has a broken line: ${line.slice(0, 80)}`);
    for (const left of readdirSync(folder).filter((file) => /lock|\.new$/.test(file))) problems.push(`${left} is left`);
    return problems;
  }

  async #run(name: string, kill?: Kill) {
    const folder = join(this.#folder, name);
    mkdirSync(folder, { recursive: true });
    const callsFile = join(this.#folder, `${name}.calls`);
    rmSync(callsFile, { force: true });
    const asked = { dist: this.#dist, folder, config: this.#config, calls: callsFile };
    const child = spawn(
      process.execPath,
      ["--import", join(HERE, "kill-at.mjs"), join(HERE, "child.mjs"), JSON.stringify(asked)],
      { env: { ...process.env, ...(kill ? { KILL_AT: String(kill.at), KILL_HOW: kill.how } : {}) } },
    );
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const calls = existsSync(callsFile) ? linesOf(callsFile) : [];
    return { status, calls, errors, operations: Number(output.trim().split("\n").at(-1)) };
  }
}

export const HOWS: readonly KillHow[] = ["before", "torn", "after"];

function repeated(calls: string[], recorded: Set<string>): string[] {
  return calls.filter((call) => recorded.has(call)).map((call) => `the call ${call} was paid for twice`);
}

/** The model calls whose replies the journal holds, as the counting models name them. */
function recordedCalls(folder: string): Set<string> {
  const journal = join(folder, "journal.jsonl");
  const calls = new Set<string>();
  const positions = new Map<string, number>();
  if (!existsSync(journal)) return calls;
  const text = readFileSync(journal, "utf8");
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    const event = parseJson(line) as EntryEnd | undefined;
    if (event?.type !== "entry-end" || event.entry.type !== "reply") continue;
    const place = [event.dataset, event.queryId, event.rollout, event.entry.by];
    const position = positions.get(JSON.stringify(place)) ?? 0;
    positions.set(JSON.stringify(place), position + 1);
    calls.add(JSON.stringify([...place, position]));
  }
  return calls;
}

/** Sorted by key, without the fields that only say when they were made. */
function canonicalRecords(folder: string): string[] {
  const trajectories = join(folder, "trajectories");
  const files = existsSync(trajectories) ? readdirSync(trajectories) : [];
  const records = files.flatMap((file) =>
    linesOf(join(trajectories, file)).map((line) => JSON.parse(line) as Trajectory),
  );
  return records
    .map(({ metadata: { timings: _, ...metadata }, ...record }) => JSON.stringify({ ...record, metadata }))
    .sort();
}

function brokenLines(folder: string): { file: string; line: string }[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"));
  return files.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const lines = text.split("\n");
    const broken = lines.slice(0, -1).filter((line) => parseJson(line) === undefined);
    return [...broken, ...(lines.at(-1) === "" ? [] : [lines.at(-1) as string])].map((line) => ({ file, line }));
  });
}

function linesOf(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
