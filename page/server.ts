// The one place that talks to the server: what a view shows is asked for again when its run has changed.
import { effect, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ChangeEvent } from "../src/viewer/api.ts";

/** How often each run has changed since the page was opened; "" counts all. */
const changes = signal<ReadonlyMap<string, number>>(new Map());
const reconnections = signal(0);
/** Whether the server can be reached. */
export const isConnected = signal(true);

/** How often anything has changed since the page was opened. */
export function countChanges(): number {
  return changes.value.get("") ?? 0;
}

export type Answer<T> = { value?: T; error?: string; isLoading: boolean };

/** A page out of sight holds no connection: browsers have only six for one server, whatever the number of tabs. */
export function follow(): void {
  let source = document.hidden ? undefined : listen();
  document.addEventListener("visibilitychange", () => {
    source?.close();
    source = undefined;
    if (document.hidden) return;
    source = listen();
    reconnections.value++; // what was missed meanwhile is asked for
  });
}

function listen(): EventSource {
  const source = new EventSource("/api/changes");
  source.addEventListener("change", (message) => {
    const { runs } = JSON.parse((message as MessageEvent<string>).data) as ChangeEvent;
    const next = new Map(changes.value);
    for (const run of ["", ...runs]) next.set(run, (next.get(run) ?? 0) + 1);
    changes.value = next;
  });
  source.onopen = () => {
    if (!isConnected.value) reconnections.value++;
    isConnected.value = true;
  };
  source.onerror = () => {
    isConnected.value = false;
  };
  return source;
}

const answers = new Map<string, Signal<Answer<unknown>>>();
const MAX_KEPT = 50;
const MIN_WAIT_MS = 500;
const SOON_MS = 50;
/** Answering one page takes the server at most this part of its time. */
const SHARE = 25;

/**
 * What the server says at this path, now and after every change of the run ("" for any run); while something is under
 * way there, again and again.
 */
export function useServer<T>(path: string, run: string, isUnderWay?: (value: T) => boolean): Answer<T> {
  const known = answers.get(path) as Signal<Answer<T>> | undefined;
  const answer = known ?? signal<Answer<T>>({ isLoading: true });
  if (!known) {
    answers.set(path, answer as Signal<Answer<unknown>>);
    if (answers.size > MAX_KEPT) answers.delete(answers.keys().next().value as string);
  }
  useEffect(() => {
    let isGone = false;
    let isAsking = false;
    let isDue = false;
    let askedAt = Number.NEGATIVE_INFINITY;
    let wait = MIN_WAIT_MS;
    const ask = async () => {
      if (isAsking) {
        isDue = true;
        return;
      }
      isAsking = true;
      // a busy run changes all the time, and what takes the server long is asked for more rarely
      const pause = askedAt + wait - performance.now();
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      if (isGone) return;
      isDue = false;
      askedAt = performance.now();
      const next = await get<T>(path);
      wait = Math.max(MIN_WAIT_MS, (performance.now() - askedAt) * SHARE);
      if (!isGone) answer.value = next;
      isAsking = false;
      const isMore = next.value !== undefined && isUnderWay?.(next.value) === true;
      if (isMore) wait = SOON_MS;
      if ((isDue || isMore) && !isGone) void ask();
    };
    let seen: number | undefined;
    const stop = effect(() => {
      const count = (changes.value.get(run) ?? 0) + reconnections.value;
      if (count === seen) return;
      seen = count;
      void ask();
    });
    return () => {
      isGone = true;
      stop();
    };
  }, [path, run]);
  return answer.value;
}

/** What the server says at this path, once. */
export function get<T>(path: string): Promise<Answer<T>> {
  return request(path, { headers: { accept: "application/json" } });
}

/** Sends this, also while the page is being left. */
export function post<T>(path: string, body: object): Promise<Answer<T>> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), keepalive: true });
}

async function request<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(path, init);
    if (response.ok) return { value: (await response.json()) as T, isLoading: false };
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    return { error: error ?? `The server answered ${response.status}.`, isLoading: false };
  } catch {
    return { error: "The server cannot be reached: is `rollout view` still running?", isLoading: false };
  }
}
