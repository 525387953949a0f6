// The records of a file, one line after the other, each examined; the second record of a rollout is damage too.
import { type Line, readLines } from "../files/index.ts";
import { countLines, type DamagedLine, MAX_NAMED, nameLines } from "./damage.ts";
import {
  type ExaminedRecord,
  examineRecord,
  type ReadTrajectory,
  type RecordPlace,
  readTrajectory,
} from "./examine-record.ts";
import { keyText } from "./finished.ts";

/** A string says what is wrong with the line; a blank line holds nothing. */
type ScannedLine = Line & { examined: ExaminedRecord | string | undefined };

export function* scanRecords(file: string, place: RecordPlace): Generator<ScannedLine, void> {
  const found = new Set<string>();
  for (const line of readLines(file)) {
    const examined = examineRecord(line.bytes, place);
    const { record } = typeof examined === "object" ? examined : {};
    const key = record?.fingerprint ? keyText(record) : undefined; // the original system's may repeat an id
    yield { ...line, examined: key !== undefined && found.has(key) ? "repeats a record" : examined };
    if (key !== undefined) found.add(key);
  }
}

/** The dialogues of a file, for those who only look; what is left out, and what was changed, is said once at the end. */
export function* readTrajectories(
  file: string,
  dataset: string,
  onNotice: (message: string) => void,
): Generator<ReadTrajectory & { bytes: Buffer }, void> {
  const notes = new DamageNotes(file);
  try {
    for (const { bytes, number, isOpen } of readLines(file)) {
      if (isOpen) return; // torn, or still being written
      const read = readTrajectory(bytes, dataset);
      notes.add(number, read);
      if (typeof read === "object") yield { ...read, bytes };
    }
  } finally {
    for (const sentence of notes.sentences()) onNotice(sentence);
  }
}

/** What a reader met in one file. */
export class DamageNotes {
  readonly #file: string;
  readonly #damaged: Pick<DamagedLine, "number" | "reason">[] = [];
  readonly #changed: number[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  add(number: number, read: ReadTrajectory | string | undefined): void {
    if (typeof read === "string") this.#damaged.push({ number, reason: read });
    else if (read?.changed) this.#changed.push(number);
  }

  sentences(): string[] {
    const some = this.#changed.slice(0, MAX_NAMED).join(", ") + (this.#changed.length > MAX_NAMED ? ", …" : "");
    return [
      ...(this.#damaged.length > 0 ? [leftOut(this.#file, this.#damaged)] : []),
      ...(this.#changed.length > 0
        ? [`${this.#file}: changed since they were written, by their checksums: ${this.#changed.length} (line ${some})`]
        : []),
    ];
  }
}

/** One sentence about lines that a reader leaves out. */
export function leftOut(file: string, damaged: readonly Pick<DamagedLine, "number" | "reason">[]): string {
  return `${file}: ${countLines(damaged)} left out (${nameLines(damaged)})`;
}
