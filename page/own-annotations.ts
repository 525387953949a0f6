// What this annotator says about one rollout, as it is being changed: each change is sent in whole, one after the other,
// and shown at once.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { AnnotationRecord, AnnotationRequest, Judgement } from "../src/viewer/api.ts";
import { pathTo } from "./address.ts";
import { post } from "./server.ts";

export type Words = { verdict?: Judgement; tags: string[]; note: string };
export type Target = { name: string; dataset: string; id: string };
type Draft = Words & {
  /** when the server wrote it; undefined until it has */
  savedAt?: string;
};

/** What is on its way to the server, and why the last of it did not get there. */
let sending: Promise<void> = Promise.resolve();
export const trouble = signal<string | undefined>(undefined);

/** Resolves to whether all that was said is saved. */
export async function settled(): Promise<boolean> {
  for (let last: typeof sending | undefined; last !== sending; ) {
    last = sending;
    await last;
  }
  return trouble.value === undefined;
}

/**
 * The words of `by` about the dialogue (undefined) or one message, and a function that changes some of them. What is said
 * before `saved` is known waits for it: each line says all, also what is not changed.
 */
export function useOwnWords(target: Target, by: string, saved: readonly AnnotationRecord[] | undefined) {
  const ready = useRef(createGate()).current;
  const drafts = useRef(signal<ReadonlyMap<number | undefined, Draft>>(new Map())).current;
  useEffect(() => {
    drafts.value = new Map();
    trouble.value = undefined;
  }, [by]);
  useEffect(() => {
    if (saved) ready.open();
    return saved ? undefined : ready.open; // left before: then nothing more is sent
  }, [saved !== undefined]);
  const stored = (message: number | undefined) => saved?.find((one) => one.by === by && one.message === message);
  const wordsOn = (message: number | undefined): Words => {
    const { tags = [], note = "", verdict, at = "" } = stored(message) ?? {};
    const draft = drafts.value.get(message);
    // what was written after the draft, here or elsewhere, is the last word
    return draft && (draft.savedAt === undefined || draft.savedAt > at) ? draft : { verdict, tags, note };
  };
  const send = (message: number | undefined) => {
    const draft = drafts.value.get(message);
    if (!draft) return;
    sending = sending.then(async () => {
      if (drafts.value.get(message) !== draft) return; // a later change says all of it
      const { verdict, tags, note } = draft;
      const { dataset, id } = target;
      const request: AnnotationRequest = { dataset, id, by, message, verdict, tags, note };
      const { value, error } = await post<{ annotation: AnnotationRecord }>(
        `/api${pathTo("run", target.name, "annotations")}`,
        request,
      );
      trouble.value = error;
      if (value && drafts.value.get(message) === draft)
        drafts.value = new Map(drafts.value).set(message, { ...draft, savedAt: value.annotation.at });
    });
  };
  const changeNow = (message: number | undefined, words: Partial<Words>) => {
    if (!saved) return;
    const { verdict, tags, note } = wordsOn(message);
    const next = { verdict, tags, note, ...words };
    if (isSame(next, { verdict, tags, note })) return;
    drafts.value = new Map(drafts.value).set(message, next);
    send(message);
  };
  const latest = useRef(changeNow);
  latest.current = changeNow;
  const change: typeof changeNow = (message, words) => {
    if (saved) return changeNow(message, words);
    sending = sending.then(() => ready.passed).then(() => latest.current(message, words));
  };
  const sendAgain = () => {
    for (const [message, { savedAt }] of drafts.value) if (savedAt === undefined) send(message);
  };
  const isSaving = [...drafts.value.values()].some(({ savedAt }) => savedAt === undefined);
  return { wordsOn, change, sendAgain, isSaving };
}

function isSame(a: Words, b: Words): boolean {
  return a.verdict === b.verdict && a.note === b.note && a.tags.join() === b.tags.join(); // no tag has a comma
}

function createGate(): { passed: Promise<void>; open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
