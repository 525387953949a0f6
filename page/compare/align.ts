// Two dialogues beside each other: turn by turn, within a turn in order, and where they differ.
import type { LongText, Moment } from "../../src/viewer/api.ts";

export type Pair = {
  a?: Moment;
  b?: Moment;
  /** in words; none if they are the same */
  differences: string[];
};
export type AlignedTurn = { turn: number; pairs: Pair[] };

export function alignMoments(a: readonly Moment[], b: readonly Moment[]): AlignedTurn[] {
  const last = Math.max(0, ...a.map(({ turn }) => turn), ...b.map(({ turn }) => turn));
  const turns = Array.from({ length: last + 1 }, (_, turn) => {
    const [left, right] = [a, b].map((moments) => moments.filter((moment) => moment.turn === turn)) as [
      Moment[],
      Moment[],
    ];
    const pairs = Array.from({ length: Math.max(left.length, right.length) }, (_, at) => toPair(left[at], right[at]));
    return { turn, pairs };
  });
  return turns.filter(({ pairs }) => pairs.length > 0);
}

function toPair(a: Moment | undefined, b: Moment | undefined): Pair {
  if (!a || !b) return { a, b, differences: [`only ${a ? "the first" : "the second"} has this`] };
  const differences = [
    ...(a.by !== b.by || a.kind !== b.kind ? ["another party or kind of entry"] : []),
    ...(isSame(a.text, b.text) ? [] : ["the text"]),
    ...callDifferences(a, b),
  ];
  return { a, b, differences };
}

/** Reasoning may differ in words alone, and ids of calls mean nothing. */
function callDifferences(a: Moment, b: Moment): string[] {
  const count = Math.max(a.calls.length, b.calls.length);
  return Array.from({ length: count }, (_, at) => {
    const [first, second] = [a.calls[at], b.calls[at]];
    if (!first || !second)
      return [`the call of ${(first ?? second)?.name} is only in the ${first ? "first" : "second"}`];
    if (first.name !== second.name) return [`${first.name} is called in the first, ${second.name} in the second`];
    return [
      ...(isSame(first.arguments, second.arguments) ? [] : [`the arguments of ${first.name}`]),
      ...(isSame(first.result?.content, second.result?.content) ? [] : [`the result of ${first.name}`]),
    ];
  }).flat();
}

function isSame(a: LongText | undefined, b: LongText | undefined): boolean {
  return (a?.text ?? "") === (b?.text ?? "") && a?.length === b?.length;
}
