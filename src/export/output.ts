// The files of an export: written under other names first, and put in place together when everything is complete.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { isObject, type Json, messageOf, parseJson, redactWritten, UsageError } from "../core/index.ts";
import type { ColumnType, Container } from "./formats/format.ts";
import { createJsonlWriter, type RowWriter } from "./write-jsonl.ts";
import { createParquetWriter } from "./write-parquet.ts";

export type OutputFiles = {
  folder: string;
  /** the data file of each side */
  files: Map<string, string>;
  /** prefix of the extra files' names: empty if the output is a separate folder */
  stem: string;
};

const EXTENSIONS = new Set([".jsonl", ".json", ".parquet"]);

/** A path with an extension is a file, which cannot take a split; any other is a folder. */
export function chooseFiles(out: string, container: Container, sides: readonly string[]): OutputFiles {
  const extension = extname(out);
  const isFolder = (existsSync(out) && statSync(out).isDirectory()) || !EXTENSIONS.has(extension);
  if (isFolder)
    return { folder: out, stem: "", files: new Map(sides.map((side) => [side, join(out, `${side}.${container}`)])) };
  if (sides.length > 1)
    throw new UsageError(`--out ${out} is one file, and the split makes ${sides.length}: name a folder`);
  if ((extension === ".parquet") !== (container === "parquet"))
    throw new UsageError(`--out ${out}: the format writes .${container} files (--container chooses another)`);
  const folder = dirname(out);
  return { folder, stem: basename(out, extension), files: new Map(sides.map((side) => [side, out])) };
}

export class Output {
  readonly #plan: OutputFiles;
  readonly #writers = new Map<string, RowWriter>();
  /** from a file's temporary name to its final one */
  readonly #waiting = new Map<string, string>();

  /** the first folder that had to be made */
  #made: string | undefined;

  constructor(plan: OutputFiles, container: Container, columns: { [name: string]: ColumnType }) {
    this.#plan = plan;
    try {
      this.#made = mkdirSync(plan.folder, { recursive: true });
      for (const [side, file] of plan.files) {
        const draft = this.#draftOf(file);
        const writer = container === "parquet" ? createParquetWriter(draft, columns) : createJsonlWriter(draft);
        this.#writers.set(side, writer);
      }
    } catch (error) {
      this.abandon();
      throw new UsageError(`Cannot write to ${plan.folder}: ${messageOf(error)}`);
    }
  }

  writerOf(side: string): RowWriter {
    return this.#writers.get(side) as RowWriter;
  }

  /** A file that goes with the data; an earlier one of the same name is replaced. */
  add(name: string, content: string): string {
    const file = join(this.#plan.folder, this.#plan.stem === "" ? name : `${this.#plan.stem}.${name}`);
    writeFileSync(this.#draftOf(file), redactWritten(content));
    return file;
  }

  /** A file whose name others rely on. */
  addPlain(name: string, content: string): string {
    const file = join(this.#plan.folder, name);
    writeFileSync(this.#draftOf(file), redactWritten(content));
    return file;
  }

  /** The dataset card. A README.md that is not ours is left alone: then the card gets another name. */
  addCard(content: string): string {
    const plain = join(this.#plan.folder, "README.md");
    const isOurs = !existsSync(plain) || this.#isOwnCard(readFileSync(plain, "utf8"));
    if (!isOurs) return this.add(this.#plan.stem === "" ? "CARD.md" : "README.md", content);
    writeFileSync(this.#draftOf(plain), redactWritten(content));
    return plain;
  }

  /** dataset_info.json is a list of datasets: ours are set, others in it are kept. */
  addInfo(entries: { [name: string]: Json }): string {
    const file = join(this.#plan.folder, "dataset_info.json");
    const before = existsSync(file) ? parseJson(readFileSync(file, "utf8")) : {};
    if (!isObject(before))
      throw new UsageError("is not a JSON object; it is where the dataset is to be listed", { file });
    writeFileSync(this.#draftOf(file), `${JSON.stringify({ ...before, ...entries }, null, 2)}\n`);
    return file;
  }

  finish(): void {
    for (const writer of this.#writers.values()) writer.close();
    this.#writers.clear();
  }

  /** Puts everything in place. */
  publish(): void {
    for (const [draft, file] of this.#waiting) renameSync(draft, file);
    this.#waiting.clear();
    this.#made = undefined;
  }

  /** Leaves nothing behind of what was not published. */
  abandon(): void {
    for (const writer of this.#writers.values()) writer.abandon();
    this.#writers.clear();
    for (const draft of this.#waiting.keys()) rmSync(draft, { force: true });
    this.#waiting.clear();
    if (this.#made !== undefined) rmSync(this.#made, { recursive: true, force: true });
  }

  #isOwnCard(text: string): boolean {
    return (
      text.includes(CARD_MARK) && [...this.#plan.files.values()].every((file) => text.includes(`"${basename(file)}"`))
    );
  }

  #draftOf(file: string): string {
    const draft = join(dirname(file), `.${basename(file)}.${process.pid}.new`);
    this.#waiting.set(draft, file);
    return draft;
  }
}

export const CARD_MARK = "<!-- made by rollout export -->";
