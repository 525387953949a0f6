// Annotating: what people say about a dialogue or one message of it, and the panel to say it with, by mouse or keys.
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { AnnotationRecord, AnnotationsView, Judgement, TableRow } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { renameAnnotator, useAnnotator } from "../annotator.ts";
import { useKeys } from "../keys.ts";
import { type Target, trouble, useOwnWords } from "../own-annotations.ts";
import { useServer } from "../server.ts";
import { ago, exactTime } from "../text.ts";
import "./annotate.css";
import { Note, Tags } from "./annotate-fields.tsx";
import { ReviewBar } from "./review.tsx";

const VERDICTS: { verdict: Judgement; key: string }[] = [
  { verdict: "accept", key: "a" },
  { verdict: "reject", key: "x" },
  { verdict: "unsure", key: "u" },
];

type Shared = ReturnType<typeof useOwnWords> & {
  target: Target;
  me: string;
  /** undefined until the server has told them */
  all?: AnnotationRecord[];
  tags: string[];
  error?: string;
  /** in a review, what others said is kept back until one has judged: agreement means something only then */
  isBlind: boolean;
  /** messages whose fields were asked for */
  opened: ReadonlySet<number>;
  open(message: number): void;
};
const Shared = createContext<Shared | undefined>(undefined);

/** Around a dialogue: its parts below share what is said about it. */
export function Annotations({ children, ...target }: Target & { children: ComponentChildren }) {
  const me = useAnnotator();
  const path = `/api${pathTo("run", target.name, "rollout", target.dataset, target.id)}/annotations`;
  const { value, error } = useServer<AnnotationsView>(path, target.name);
  const all = value?.annotations;
  const own = useOwnWords(target, me ?? "", me === undefined ? undefined : all);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const open = (message: number) => setOpened(new Set(opened).add(message));
  const isBlind = Address.params.has("review") && own.wordsOn(undefined).verdict === undefined;
  const shared =
    me === undefined ? undefined : { ...own, target, me, all, tags: value?.tags ?? [], error, isBlind, opened, open };
  return <Shared.Provider value={shared}>{children}</Shared.Provider>;
}

/** The panel of the whole dialogue. */
export function AnnotateDialogue() {
  const shared = useContext(Shared);
  return shared ? <Panel shared={shared} /> : null;
}

function Panel({ shared }: { shared: Shared }) {
  const { target, me, change, isSaving, sendAgain, all, error, open } = shared;
  const panel = useRef<HTMLElement>(null);
  const focus = (selector: string) => panel.current?.querySelector<HTMLElement>(selector)?.focus();
  const judge = (verdict: Judgement) => ({ does: verdict, act: () => change(undefined, { verdict }) });
  useKeys(
    {
      ...Object.fromEntries(VERDICTS.map(({ verdict, key }) => [key, judge(verdict)])),
      t: { does: "add a tag (Escape leaves the field)", act: () => focus(".tag-field") },
      m: { does: "write a note (Escape leaves the field)", act: () => focus("textarea") },
      e: { does: "annotate the message that has the focus", act: () => openFocused(open) },
    },
    "Annotating",
  );
  return (
    <section class="annotate" aria-label="Annotation of this dialogue" ref={panel}>
      <ReviewBar {...target} me={me} />
      <Others shared={shared} />
      {all ? <Editor shared={shared} /> : <p role={error ? "alert" : "status"}>{error ?? "Reading …"}</p>}
      <p class="small">
        <Annotator me={me} />{" "}
        <span role="status">{trouble.value === undefined && (isSaving ? "Saving …" : "Changes are saved.")}</span>
        {trouble.value !== undefined && (
          <span role="alert" class="bad">
            Not saved: {trouble.value}{" "}
            <button type="button" onClick={sendAgain}>
              Try again
            </button>
          </span>
        )}
      </p>
    </section>
  );
}

function openFocused(open: (message: number) => void): void {
  const number = /^m(\d+)$/.exec(document.activeElement?.closest(".moment")?.id ?? "")?.[1];
  if (number !== undefined) open(Number(number));
}

/** The way to say something about one message, beside its name: seen on hover, with the focus, and where one touches. */
export function AnnotateButton({ at }: { at: number }) {
  const shared = useContext(Shared);
  if (!shared?.all || shared.opened.has(at) || isSaid(shared.wordsOn(at))) return null;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Annotate message ${at}`}
      title="Annotate this message (e)"
      onClick={() => shared.open(at)}
    >
      Annotate
    </button>
  );
}

/** What was said about one message, and the fields for it. */
export function AnnotateMessage({ at }: { at: number }) {
  const shared = useContext(Shared);
  if (!shared?.all) return null;
  const isOpened = shared.opened.has(at);
  const isShown = isOpened || isSaid(shared.wordsOn(at));
  const others = shared.all.some((one) => one.by !== shared.me && one.message === at);
  if (!isShown && !others) return null;
  return (
    <div class="annotate-message">
      <Others shared={shared} message={at} />
      {isShown && <Editor shared={shared} message={at} isOpened={isOpened} />}
    </div>
  );
}

function isSaid({ verdict, tags, note }: ReturnType<Shared["wordsOn"]>): boolean {
  return verdict !== undefined || tags.length > 0 || note !== "";
}

type EditorProps = { shared: Shared; message?: number; isOpened?: boolean };

function Editor({ shared: { wordsOn, change, tags: usual }, message, isOpened }: EditorProps) {
  const words = wordsOn(message);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOpened) first.current?.focus();
  }, []);
  const what = message === undefined ? "this dialogue" : `message ${message}`;
  return (
    <div class="editor">
      <fieldset class="verdicts" aria-label={`Your verdict on ${what}`}>
        {VERDICTS.map(({ verdict, key }, index) => {
          const isOn = words.verdict === verdict;
          return (
            <button
              key={verdict}
              ref={index === 0 ? first : undefined}
              type="button"
              class={`verdict ${verdict}`}
              aria-pressed={isOn}
              onClick={(event) => {
                change(message, { verdict });
                if (event.detail > 0) event.currentTarget.blur(); // after a mouse, Enter means the next one
              }}
            >
              {verdict}
              {message === undefined && <kbd>{key}</kbd>}
            </button>
          );
        })}
        {words.verdict !== undefined && (
          <button
            type="button"
            aria-label={`Clear your verdict on ${what}`}
            onClick={() => change(message, { verdict: undefined })}
          >
            clear
          </button>
        )}
      </fieldset>
      <Tags tags={words.tags} usual={usual} what={what} onChange={(tags) => change(message, { tags })} />
      <Note note={words.note} what={what} onChange={(note) => change(message, { note })} />
    </div>
  );
}

/** What other people said. */
function Others({ shared: { all = [], me, isBlind }, message }: { shared: Shared; message?: number }) {
  const others = all.filter((one) => one.by !== me && one.message === message);
  if (others.length === 0) return null;
  if (isBlind) return message === undefined ? <p class="small">Others' words are shown once you have judged.</p> : null;
  return (
    <ul class="remarks">
      {others.map(({ by, at, verdict, tags = [], note }) => (
        <li key={by}>
          <b>{by}</b>
          {verdict && <span class={`word ${verdict}`}> {verdict}</span>}{" "}
          {tags.map((tag) => (
            <span key={tag} class="tag">
              {tag}
            </span>
          ))}{" "}
          <span class="small" title={exactTime(at)}>
            {ago(Date.parse(at) || 0)}
          </span>
          {note && <p class="note">{note}</p>}
        </li>
      ))}
    </ul>
  );
}

function Annotator({ me }: { me: string }) {
  const [isOpen, open] = useState(false);
  if (!isOpen)
    return (
      <>
        You annotate as <b>{me}</b>.{" "}
        <button type="button" onClick={() => open(true)}>
          Change
        </button>
      </>
    );
  const close = (name: string) => {
    renameAnnotator(name);
    open(false);
  };
  return (
    <label>
      You annotate as{" "}
      <input
        ref={(field) => field?.focus()}
        defaultValue={me}
        maxLength={60}
        onBlur={(event) => close(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key === "Escape") open(false);
        }}
      />
    </label>
  );
}

/** For the table. */
export function AnnotationCell({ annotation, tags }: Pick<TableRow, "annotation" | "tags">) {
  return (
    <>
      {annotation !== "none" && <span class={`word ${annotation}`}>{annotation}</span>}{" "}
      {tags.map((tag) => (
        <span key={tag} class="tag">
          {tag}
        </span>
      ))}
    </>
  );
}
