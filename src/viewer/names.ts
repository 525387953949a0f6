// Texts and lists of texts that many rows share, each kept once: equal ones are the same object.
export class Names {
  readonly #names = new Map<string, string>();
  /** as they came, and sorted */
  readonly #lists = new Map<string, readonly string[]>();
  readonly #sorted = new Map<string, readonly string[]>();

  one(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, name);
    return name;
  }

  /** Sorted, each once. */
  list(names: readonly string[]): readonly string[] {
    if (names.length === 0) return NONE;
    const key = names.join("\n");
    const known = this.#lists.get(key) ?? this.#add([...new Set(names)].sort());
    if (this.#lists.size < MAX_LISTS) this.#lists.set(key, known);
    return known;
  }

  #add(sorted: string[]): readonly string[] {
    const key = sorted.join("\n");
    const known = this.#sorted.get(key) ?? sorted.map((name) => this.one(name));
    this.#sorted.set(key, known);
    return known;
  }
}

/** Orders of the same names that are remembered. */
const MAX_LISTS = 10_000;
const NONE: readonly string[] = [];
