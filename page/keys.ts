// The keyboard: what each key does in the view that is shown. `?` shows them all.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** By key as browsers name it ("j", "ArrowDown", "?"); several keys for one thing are written "j ArrowDown". */
export type Keys = { [keys: string]: { does: string; act: () => void } };

/** Of the parts of the view that is shown; where two want the same key, the later one has it. */
const active = signal<readonly { title: string; keys: Keys }[]>([]);
/** Whether the list of keys is open. */
export const isHelpOpen = signal(false);

/** Of the page itself: shown last. */
export const EVERYWHERE = "Everywhere";

/** These keys work as long as the part that asks for them is shown, from the moment that it can be seen. */
export function useKeys(keys: Keys, title = "Here"): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    // what a key does may change with every look, its entry in the list does not
    const live = Object.fromEntries(
      Object.entries(keys).map(([names, { does }]) => [names, { does, act: () => latest.current[names]?.act() }]),
    );
    const entry = { title, keys: live };
    active.value = [...active.value, entry];
    return () => {
      active.value = active.value.filter((other) => other !== entry);
    };
  }, [Object.keys(keys).join("\n")]);
}

/** What the list of keys shows: a key that a later part has taken is not in it twice. */
export function listKeys(): { title: string; keys: { names: string[]; does: string }[] }[] {
  const taken = new Set<string>(["?"]);
  const parts = active.value.toReversed().map(({ title, keys }) => {
    const own = Object.entries(keys).map(([names, { does }]) => ({
      names: names.split(" ").filter((name) => !taken.has(name)),
      does,
    }));
    for (const { names } of own) for (const name of names) taken.add(name);
    return { title, keys: own.filter(({ names }) => names.length > 0) };
  });
  const shown = parts.filter(({ keys }) => keys.length > 0).toReversed();
  return [...shown.filter(({ title }) => title !== EVERYWHERE), ...shown.filter(({ title }) => title === EVERYWHERE)];
}

export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    if ((event.key === "Enter" || event.key === " ") && isControl(event.target)) return; // it is pressed by them
    if (event.key === "?") isHelpOpen.value = !isHelpOpen.value;
    else if (isHelpOpen.value) {
      if (event.key !== "Escape") return;
      isHelpOpen.value = false; // at once: left to the browser, the next key could still find it open
    } else {
      const found = active.value.toReversed().flatMap(({ keys }) => Object.entries(keys));
      const key = found.find(([names]) => names.split(" ").includes(event.key));
      if (!key) return;
      key[1].act();
    }
    event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  const field = target instanceof Element ? target.closest("input, textarea, select, [contenteditable]") : null;
  return field !== null && !["checkbox", "radio", "button"].includes(field.getAttribute("type") ?? "");
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a[href], button, summary, label") !== null;
}
