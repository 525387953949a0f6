// What came over of each task: whole, in part with what was lost, or not at all with the reason.
import { isObject, type JsonObject, listReferences, type ReferencePlan } from "../core/index.ts";

type Grouped = { ids: string[] };
export type DatasetReport = {
  name: string;
  /** where it was written; none if nothing was */
  folder: string | undefined;
  tasks: number;
  whole: number;
  in_part: number;
  not_at_all: number;
  lost: ({ kind: string; what: string } & Grouped)[];
  not_carried: ({ why: string } & Grouped)[];
};

export class Tally {
  readonly #name: string;
  readonly #carried = new Set<string>();
  readonly #inPart = new Set<string>();
  readonly #lost = new Map<string, { kind: string; what: string; ids: string[] }>();
  readonly #refused = new Map<string, { why: string; ids: string[] }>();
  #tasks = 0;

  constructor(name: string) {
    this.#name = name;
  }

  lose(id: string, kind: string, what: string): void {
    const lost = this.#lost.get(kind) ?? { kind, what, ids: [] };
    this.#lost.set(kind, lost);
    if (!lost.ids.includes(id)) lost.ids.push(id);
    this.#inPart.add(id);
  }

  /** Adds a task's query, or the reason why there is none. */
  convert(id: string, toQuery: () => JsonObject): JsonObject[] {
    this.#tasks++;
    try {
      const query = toQuery();
      if (dropConfusing(query))
        this.lose(
          id,
          "braces",
          "{{…}} in calls or texts, which a plan takes for references to results: such a task has no plan",
        );
      this.#carried.add(id);
      return [query];
    } catch (error) {
      if (!(error instanceof Uncarried)) throw error;
      this.refuse(id, error.message);
      return [];
    }
  }

  /** A row that is no task at all. */
  skip(id: string, why: string): void {
    this.#tasks++;
    this.refuse(id, why);
  }

  refuse(id: string, why: string): void {
    const refused = this.#refused.get(why) ?? { why, ids: [] };
    this.#refused.set(why, refused);
    refused.ids.push(id);
    this.#inPart.delete(id);
    for (const lost of this.#lost.values()) lost.ids = lost.ids.filter((other) => other !== id);
  }

  /** Of a source that could not be read as a whole. */
  refuseAll(ids: string[], why: string): DatasetReport {
    this.#tasks = ids.length;
    for (const id of ids) this.refuse(id, why);
    return { ...this.report(undefined), not_carried: [{ why, ids }] };
  }

  report(folder: string | undefined): DatasetReport {
    const refused = [...this.#refused.values()];
    return {
      name: this.#name,
      folder,
      tasks: this.#tasks,
      whole: this.#carried.size - this.#inPart.size,
      in_part: this.#inPart.size,
      not_at_all: refused.reduce((count, { ids }) => count + ids.length, 0),
      lost: [...this.#lost.values()].filter(({ ids }) => ids.length > 0),
      not_carried: refused,
    };
  }
}

/** A plan that a reader would understand otherwise is none. */
function dropConfusing({ task_info: info }: JsonObject): boolean {
  if (!isObject(info) || listReferences((info.plan ?? []) as ReferencePlan).length === 0) return false;
  delete info.plan;
  return true;
}

/** A task that cannot become a query. */
export class Uncarried extends Error {}
