// Which request meets which fault. By rate: decided by the seed, the request's content and how often it was asked before,
// never by the order of arrival, so that a run against the server repeats. By position: in the order of arrival.
import { contentHash, createRandom } from "../../core/index.ts";
import { type FaultKind, type FaultRule, isPassing } from "./fault-spec.ts";

/** Requests that are being retried; more than are ever in flight. */
const MAX_REMEMBERED = 100_000;

type Series = { attempts: number; repeat: FaultRule | undefined; left: number };

export class FaultSchedule {
  readonly #rules: readonly FaultRule[];
  readonly #seed: number;
  /** how often a rule could have applied so far */
  readonly #chances = new Map<FaultRule, number>();
  readonly #series = new Map<string, Series>();
  readonly #broken = new Map<string, FaultRule>();

  constructor(rules: readonly FaultRule[], seed: number) {
    this.#rules = rules;
    this.#seed = seed;
  }

  /** At most one fault per request: the first rule that hits it. `canDo` says which kinds make sense for it. */
  choose(content: string, canDo: (kind: FaultKind) => boolean): FaultRule | undefined {
    if (this.#rules.length === 0) return undefined;
    const key = contentHash(content);
    const possible = this.#rules.filter(({ kind }) => canDo(kind));
    const placed = possible.filter((rule) => this.#isPlaced(rule))[0];
    if (placed?.kind === "always500") this.#broken.set(key, placed);
    return placed ?? this.#broken.get(key) ?? this.#drawn(key, possible);
  }

  #isPlaced(rule: FaultRule): boolean {
    if ("rate" in rule.when) return false;
    const chance = (this.#chances.get(rule) ?? 0) + 1;
    this.#chances.set(rule, chance);
    return chance >= rule.when.from && chance <= rule.when.to;
  }

  #drawn(key: string, possible: readonly FaultRule[]): FaultRule | undefined {
    const series = this.#series.get(key) ?? { attempts: 0, repeat: undefined, left: 0 };
    if (series.repeat && series.left > 0) {
      series.left--;
      return series.repeat;
    }
    const hit = possible.find(({ kind, when }) => {
      if (!("rate" in when)) return false;
      const attempt = isPassing(kind) ? series.attempts : 0;
      return createRandom("mock fault", this.#seed, kind, key, attempt).chance(when.rate);
    });
    // once the request is answered its series is over, and asking it again later restarts the same series
    this.#series.delete(key);
    if (hit && "rate" in hit.when && isPassing(hit.kind)) {
      if (this.#series.size >= MAX_REMEMBERED) this.#series.delete(this.#series.keys().next().value as string);
      this.#series.set(key, { attempts: series.attempts + 1, repeat: hit, left: hit.when.burst - 1 });
    }
    return hit;
  }
}
