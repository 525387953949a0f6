// What people said about a run's rollouts, counted: verdicts, by whom, tags, and how far the annotators agree.
import { JUDGEMENTS, type Judgement, type Remark, tagsOf, wordOf } from "../../runs/index.ts";
import { cohensKappa } from "../agreement.ts";

type Verdicts = { [verdict in Judgement]: number };

export type AnnotationReport = {
  /** rollouts with a verdict, by what all who gave one say; `mixed`: they do not agree */
  verdicts: Verdicts & { mixed: number };
  rollouts: number;
  /** verdicts on dialogues by each annotator, and how many notes and annotations of single messages */
  annotators: (Verdicts & { annotator: string; notes: number; messages: number })[];
  /** the rollouts that have them, on the dialogue or a message; the most frequent first */
  tags: { tag: string; rollouts: number }[];
  /** of each two annotators: the rollouts that both judged */
  agreement: Agreement[];
  /** annotated rollouts that the run has no record of */
  unknown: number;
};

export type Agreement = {
  annotators: [string, string];
  rollouts: number;
  agreed: number;
  /** null: each used one verdict only, the same one, so that chance would agree as often */
  kappa: number | null;
};

/** Undefined if nobody said anything; `keys`: of the run's records, as text. */
export function reportAnnotations(
  all: ReadonlyMap<string, readonly Remark[]>,
  keys: ReadonlySet<string>,
): AnnotationReport | undefined {
  if (all.size === 0) return undefined;
  const known = [...all].flatMap(([key, remarks]) => (keys.has(key) ? [remarks] : []));
  const words = known.map(wordOf);
  const judged = known.map(verdictsOf);
  const names = [...new Set(known.flat().map(({ by }) => by))].sort();
  return {
    verdicts: { ...countVerdicts(words), mixed: words.filter((word) => word === "mixed").length },
    rollouts: words.filter((word) => word !== "none").length,
    annotators: names.map((annotator) => {
      const own = known.flat().filter(({ by }) => by === annotator);
      return {
        annotator,
        ...countVerdicts(judged.map((verdicts) => verdicts.get(annotator))),
        notes: own.filter(({ hasNote }) => hasNote).length,
        messages: own.filter(({ message }) => message !== undefined).length,
      };
    }),
    tags: countTags(known),
    agreement: names.flatMap((a, index) => names.slice(index + 1).flatMap((b) => agreementOf(judged, a, b))),
    unknown: all.size - known.length,
  };
}

function verdictsOf(remarks: readonly Remark[]): Map<string, Judgement> {
  return new Map(
    remarks.flatMap(({ by, message, verdict }) => (message === undefined && verdict ? [[by, verdict]] : [])),
  );
}

function countVerdicts(verdicts: readonly (string | undefined)[]): Verdicts {
  const counts = JUDGEMENTS.map((judgement) => [judgement, verdicts.filter((one) => one === judgement).length]);
  return Object.fromEntries(counts) as Verdicts;
}

function countTags(rollouts: readonly (readonly Remark[])[]): AnnotationReport["tags"] {
  const counts = new Map<string, number>();
  for (const remarks of rollouts) for (const tag of tagsOf(remarks)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return sorted.map(([tag, rollouts]) => ({ tag, rollouts }));
}

function agreementOf(judged: readonly ReadonlyMap<string, Judgement>[], a: string, b: string): Agreement[] {
  const pairs = judged.flatMap((verdicts) => {
    const [one, other] = [verdicts.get(a), verdicts.get(b)];
    return one && other ? [[one, other] as const] : [];
  });
  if (pairs.length === 0) return [];
  const agreed = pairs.filter(([one, other]) => one === other).length;
  return [{ annotators: [a, b], rollouts: pairs.length, agreed, kappa: cohensKappa(pairs) }];
}
