// Two dialogues, aligned by turn, their first difference marked.
import { useMemo, useState } from "preact/hooks";
import type { DialogueView, Moment } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { Facts, verdictClass } from "../dialogue/evidence.tsx";
import { MomentView } from "../dialogue/moment.tsx";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { useServer } from "../server.ts";
import { scoreText } from "../text.ts";
import { alignMoments, type Pair } from "./align.ts";
import { type ComparedPlace, pathToCompare, writePlace } from "./place.ts";

type Place = Required<ComparedPlace>;
type Side = { place: Place; path: string; dialogue: DialogueView };

const pathOf = ({ run, dataset, id }: Place) => pathTo("run", run, "rollout", dataset, id);

export function CompareRollouts({ a, b }: { a: Place; b: Place }) {
  const [first, second] = [useSide(a), useSide(b)];
  return (
    <Shown answer={first}>
      {(left) => (
        <Shown answer={second}>
          {(right) => (
            <Beside
              a={{ place: a, path: `/api${pathOf(a)}`, dialogue: left }}
              b={{ place: b, path: `/api${pathOf(b)}`, dialogue: right }}
            />
          )}
        </Shown>
      )}
    </Shown>
  );
}

function useSide(place: Place) {
  return useServer<DialogueView>(`/api${pathOf(place)}`, place.run);
}

function Beside({ a, b }: { a: Side; b: Side }) {
  const turns = useMemo(
    () => alignMoments(a.dialogue.moments, b.dialogue.moments),
    [a.dialogue.moments, b.dialogue.moments],
  );
  const [isReasoningOpen, setReasoningOpen] = useState(false);
  const first = turns.flatMap(({ pairs }) => pairs).find(({ differences }) => differences.length > 0);
  useKeys(
    {
      d: { does: "the first difference", act: () => show(document.getElementById("first-difference")) },
      j: { does: "next difference", act: () => stepDifference(1) },
      k: { does: "difference before", act: () => stepDifference(-1) },
      s: {
        does: "swap the two sides",
        act: () => Address.go(pathToCompare(placeText(b.place), placeText(a.place)), true),
      },
      u: { does: "up: the first dialogue", act: () => Address.go(pathOf(a.place)) },
      r: { does: "unfold or fold all reasoning", act: () => setReasoningOpen(!isReasoningOpen) },
    },
    "This comparison",
  );
  return (
    <div class="compare">
      <h1>
        {a.place.id} and {b.place.id}
      </h1>
      {first ? (
        <p>
          <a href="#first-difference">The first difference</a>: {first.differences.join(", ")}.
        </p>
      ) : (
        <p class="good">The two dialogues say and do the same.</p>
      )}
      <div class="pair sides">
        <SideHead side={a} word="First" />
        <SideHead side={b} word="Second" />
      </div>
      {turns.map(({ turn, pairs }) => (
        <section key={turn} aria-label={turn === 0 ? "Before the first turn" : `Turn ${turn}`}>
          <h2 class="turn">{turn === 0 ? "Before the first turn" : `Turn ${turn}`}</h2>
          {pairs.map((pair, at) => (
            <PairView key={at} {...{ pair, a, b, isReasoningOpen }} isFirst={pair === first} />
          ))}
        </section>
      ))}
    </div>
  );
}

function SideHead({ side: { place, dialogue }, word }: { side: Side; word: string }) {
  const { verdict, score, checks } = dialogue;
  const failed = checks.filter(({ pass }) => pass === false).map(({ check }) => check);
  return (
    <div>
      <h2>
        {word}: <a href={pathOf(place)}>{place.id}</a> <span class="small">of {place.run}</span>
      </h2>
      <p>
        <span class={verdictClass(verdict)}>{verdict}</span>
        {score !== null && <span class="small"> score {scoreText(score)}</span>}
        {failed.length > 0 && <span class="small">, failed: {failed.join(", ")}</span>}
      </p>
      <Facts dialogue={dialogue} />
    </div>
  );
}

type PairProps = { pair: Pair; a: Side; b: Side; isFirst: boolean; isReasoningOpen: boolean };

function PairView({ pair, a, b, isFirst, isReasoningOpen }: PairProps) {
  const differs = pair.differences.length > 0;
  return (
    <div
      class={`row ${differs ? "differs" : ""}`}
      id={isFirst ? "first-difference" : undefined}
      tabIndex={differs ? -1 : undefined}
    >
      {differs && (
        <p class="difference odd">
          {isFirst && <strong>First difference: </strong>}
          {pair.differences.join(", ")}
        </p>
      )}
      <div class="pair">
        <Cell moment={pair.a} side={a} isReasoningOpen={isReasoningOpen} />
        <Cell moment={pair.b} side={b} isReasoningOpen={isReasoningOpen} />
      </div>
    </div>
  );
}

const NONE: ReadonlyMap<number, string[]> = new Map();

function Cell({ moment, side, isReasoningOpen }: { moment?: Moment; side: Side; isReasoningOpen: boolean }) {
  if (!moment) return <div class="nothing small">nothing here</div>;
  // two dialogues cannot both have a message 3 to link to
  const unnumbered = {
    ...moment,
    message: undefined,
    calls: moment.calls.map((call) => ({ ...call, result: call.result && { ...call.result, message: undefined } })),
  };
  return (
    <MomentView
      {...{ moment: unnumbered, isReasoningOpen }}
      path={side.path}
      tools={new Map()}
      changes={side.dialogue.states.changes}
      decided={NONE}
    />
  );
}

function placeText({ run, dataset, id }: Place): string {
  return writePlace(run, dataset, id);
}

function show(element: HTMLElement | null | undefined): void {
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "start" });
}

function stepDifference(by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(".row.differs")];
  const at = all.indexOf(document.activeElement?.closest(".row.differs") as HTMLElement);
  show(all[at === -1 ? 0 : at + by]);
}
