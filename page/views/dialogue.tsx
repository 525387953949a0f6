// One dialogue with its evidence: what was said and done, what it changed, and what the checks made of it.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { DialogueView as Dialogue } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { copied, copy } from "../dialogue/copy.tsx";
import { Facts, PromptAndTools, Siblings, Verdict } from "../dialogue/evidence.tsx";
import { MomentView, readText } from "../dialogue/moment.tsx";
import { FinalState } from "../dialogue/state.tsx";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { pathToTable } from "../last-table.ts";
import { useServer } from "../server.ts";
import { ago, exactTime } from "../text.ts";
import { AnnotateDialogue, Annotations } from "./annotate.tsx";
import "./dialogue.css";

/** More are drawn only as they come into sight. */
const MANY = 100;

type Place = { name: string; dataset: string; id: string };

export function DialogueView(place: Place) {
  const path = `/api${pathTo("run", place.name, "rollout", place.dataset, place.id)}`;
  const answer = useServer<Dialogue>(path, place.name);
  // another dialogue begins at its top, with nothing unfolded
  return (
    <Shown answer={answer}>
      {(dialogue) => (
        <Annotations key={path} {...place}>
          <Loaded place={place} path={path} dialogue={dialogue} />
          {dialogue.facts && <AnnotateDialogue />}
        </Annotations>
      )}
    </Shown>
  );
}

function Loaded({ place, path, dialogue }: { place: Place; path: string; dialogue: Dialogue }) {
  const { name, dataset, id } = place;
  const { moments, checks, states, tools, userTools, faults, failures, notes } = dialogue;
  const [isReasoningOpen, setReasoningOpen] = useState(false);
  const [areToolsOpen, setToolsOpen] = useState(false);
  const uses = useMemo(() => new Map([...tools, ...userTools].map((tool) => [tool.name, tool.description])), [tools]);
  const decided = useMemo(() => {
    const byMessage = new Map<number, string[]>();
    for (const { check, messages } of checks)
      for (const at of messages) byMessage.set(at, [...(byMessage.get(at) ?? []), check]);
    return byMessage;
  }, [checks]);
  useEffect(showTarget, []);
  const goTo = (step: number) => {
    const own = dialogue.siblings.findIndex((other) => other.id === id);
    const next = dialogue.siblings[own + step];
    if (next) Address.go(pathTo("run", name, "rollout", dataset, next.id));
  };
  const current = () => moments[articles().indexOf(document.activeElement?.closest(".moment") as HTMLElement)];
  useKeys(
    {
      j: { does: "next message", act: () => step(1) },
      k: { does: "message before", act: () => step(-1) },
      f: { does: "next message that a check points at", act: () => step(1, (at) => isMarked(moments[at], decided)) },
      "n ArrowRight": { does: "next rollout of this query", act: () => goTo(1) },
      "p ArrowLeft": { does: "rollout of this query before", act: () => goTo(-1) },
      b: { does: "back to the table, as you left it", act: () => Address.go(pathToTable(name)) },
      r: { does: "unfold or fold all reasoning", act: () => setReasoningOpen(!isReasoningOpen) },
      i: { does: "unfold or fold prompt and tools", act: () => setToolsOpen(!areToolsOpen) },
      c: {
        does: "copy the message that has the focus",
        act: () => {
          const moment = current();
          if (moment) void readText(moment, path).then(copy);
        },
      },
    },
    "This dialogue",
  );
  return (
    <div class="dialogue">
      <div class="dialogue-top">
        <div class="page-head">
          <h1>{id}</h1>
          <p class="small">{dataset}</p>
        </div>
        <Facts dialogue={dialogue} />
        {notes.map((note) => (
          <p key={note} class="odd">
            {note}
          </p>
        ))}
        {failures.map(({ attempt, error, kind, at, stack }) => (
          <div key={`${attempt} ${at}`} class="failure" role="note">
            <strong class="bad">Attempt {attempt} failed</strong>{" "}
            <span class="small" title={exactTime(at)}>
              {kind}, {ago(Date.parse(at) || 0) || at}
            </span>
            <pre>{error}</pre>
            {stack && (
              <details>
                <summary>Where it failed</summary>
                <pre>{stack}</pre>
              </details>
            )}
          </div>
        ))}
        <p role="status" class="small">
          {copied.value}
        </p>
      </div>
      <aside aria-label="Evidence">
        <Verdict dialogue={dialogue} />
        <Siblings dialogue={dialogue} run={name} />
        {faults.length > 0 && (
          <section aria-labelledby="faults-title">
            <h2 id="faults-title">On the way</h2>
            <ul class="faults">
              {faults.map(({ text, message }, at) => (
                <li key={at} class="odd">
                  {text} {message !== undefined && <a href={`#m${message}`}>message {message}</a>}
                </li>
              ))}
            </ul>
          </section>
        )}
        <PromptAndTools dialogue={dialogue} path={path} isOpen={areToolsOpen} />
      </aside>
      <section class={`moments ${moments.length > MANY ? "many" : ""}`} aria-label="Dialogue">
        {moments.map((moment, at) => (
          <MomentView key={at} {...{ moment, path, isReasoningOpen, decided }} tools={uses} changes={states.changes} />
        ))}
        {dialogue.state === "running" && <p role="status">The next entry appears here by itself.</p>}
        {dialogue.facts && <FinalState states={states} />}
      </section>
    </div>
  );
}

function articles(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(".moments > .moment")];
}

/** To the next one that is wanted; the first look begins at what is on the screen. */
function step(by: 1 | -1, isWanted: (at: number) => boolean = () => true): void {
  const all = articles();
  const focused = all.indexOf(document.activeElement?.closest(".moment") as HTMLElement);
  const seen = all.findIndex((article) => article.getBoundingClientRect().bottom > 60);
  let at = focused !== -1 ? focused + by : seen;
  while (all[at] && !isWanted(at)) at += by;
  all[at]?.focus({ preventScroll: true });
  all[at]?.scrollIntoView({ block: "start" });
}

function isMarked(moment: Dialogue["moments"][number] | undefined, decided: ReadonlyMap<number, string[]>): boolean {
  const numbers = [moment?.message, ...(moment?.calls ?? []).map(({ result }) => result?.message)];
  return numbers.some((number) => number !== undefined && decided.has(number));
}

/** The message that the address names is there only now. */
function showTarget(): void {
  const target = /^#[mc][\w-]+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
  target?.scrollIntoView({ block: "start" });
}
