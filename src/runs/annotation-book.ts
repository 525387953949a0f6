// All that people said about the rollouts of a run, each one's last word; followed as the file grows. Notes, which may be
// long, stay on disk.
import { join } from "node:path";
import { type Extent, FollowedFile, readExtents } from "../files/index.ts";
import { ANNOTATIONS_FILE, type AnnotationRecord, type Judgement, readAnnotationLine } from "./annotations.ts";
import type { DamagedLine } from "./damage.ts";
import { recordKeyText } from "./finished.ts";
import { leftOut } from "./scan-records.ts";

/** What all annotators together say about a dialogue: their verdict if all who gave one agree. */
export type AnnotationWord = Judgement | "mixed" | "none";

export const ANNOTATION_WORDS = ["accept", "reject", "unsure", "mixed", "none"] as const satisfies AnnotationWord[];

/** One annotator's last word about a rollout, or about one message of it. */
export type Remark = Pick<AnnotationRecord, "by" | "message" | "verdict"> & {
  tags: readonly string[];
  hasNote: boolean;
  place: Extent;
};

export class AnnotationBook {
  readonly #file: FollowedFile;
  readonly #remarks = new Map<string, Remark[]>();
  readonly #damaged: DamagedLine[] = [];
  readonly #only: readonly string[] | undefined;

  /** `only`: nobody else's words count. Read at once, unless it is to be followed. */
  constructor(folder: string, only?: readonly string[], { isFollowed = false } = {}) {
    this.#file = new FollowedFile(join(folder, ANNOTATIONS_FILE));
    this.#only = only;
    if (!isFollowed) for (const _ of this.follow());
  }

  get path(): string {
    return this.#file.path;
  }

  /** What is damaged in the file, in a sentence. */
  get damage(): string | undefined {
    return this.#damaged.length > 0 ? leftOut(this.#file.path, this.#damaged) : undefined;
  }

  /** Everybody whose words are in it, in the order of their names. */
  get annotators(): string[] {
    return [...new Set([...this.#remarks.values()].flat().map(({ by }) => by))].sort();
  }

  /** By the rollouts' keys as text. */
  get remarks(): ReadonlyMap<string, readonly Remark[]> {
    return this.#remarks;
  }

  /** Reads what was added since, until told to stop: about whom, and everybody if the file was replaced. */
  *follow(isEnough?: () => boolean): Generator<string, void> {
    const seen = this.#file.look();
    if (seen === "same") return;
    if (seen === "replaced") {
      const keys = [...this.#remarks.keys()];
      this.#remarks.clear();
      this.#damaged.length = 0;
      yield* keys;
    }
    for (const { bytes, offset, length, number } of this.#file.read(isEnough)) {
      const read = readAnnotationLine(bytes);
      if (typeof read === "string") this.#damaged.push({ offset, length, number, reason: read });
      else if (read && (this.#only?.includes(read.by) ?? true)) {
        this.#take(read, { offset, length });
        yield recordKeyText(read);
      }
    }
  }

  remarksOn(key: string): readonly Remark[] {
    return this.#remarks.get(key) ?? [];
  }

  /** The whole annotations of one rollout: the dialogue's first, then by message. */
  read(key: string): AnnotationRecord[] {
    const places = this.remarksOn(key).map(({ place }) => place);
    if (places.length === 0) return [];
    const found = [...readExtents(this.#file.path, places)].flatMap((bytes) => {
      const read = readAnnotationLine(bytes);
      return typeof read === "object" && recordKeyText(read) === key ? [read] : []; // replaced meanwhile
    });
    return found.sort((a, b) => (a.message ?? -1) - (b.message ?? -1));
  }

  #take({ by, message, verdict, tags = [], note = "", ...key }: AnnotationRecord, place: Extent): void {
    const text = recordKeyText(key);
    const others = this.remarksOn(text).filter((one) => one.by !== by || one.message !== message);
    const isSomething = verdict !== undefined || tags.length > 0 || note !== "";
    const remark = { by, message, verdict, tags, hasNote: note !== "", place };
    if (isSomething) this.#remarks.set(text, [...others, remark]);
    else if (others.length > 0) this.#remarks.set(text, others);
    else this.#remarks.delete(text);
  }
}

/** The verdict on the dialogue: verdicts on single messages do not count, nor do tags and notes. */
export function wordOf(remarks: readonly Remark[]): AnnotationWord {
  const verdicts = new Set(remarks.flatMap(({ message, verdict }) => (message === undefined ? (verdict ?? []) : [])));
  const [first = "none"] = verdicts;
  return verdicts.size > 1 ? "mixed" : first;
}

/** Who gave a verdict on the dialogue. */
export function judgesOf(remarks: readonly Remark[]): string[] {
  return remarks.flatMap(({ by, message, verdict }) => (message === undefined && verdict ? [by] : []));
}

/** Of the dialogue and of its messages, each once. */
export function tagsOf(remarks: readonly Remark[]): string[] {
  return [...new Set(remarks.flatMap(({ tags }) => tags))].sort();
}
