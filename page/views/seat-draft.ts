// What is typed on a seat and not yet sent, for as long as the browser's tab is open.

function keyOf(position: number, name: string): string {
  return `seat ${position} ${name}`;
}

export function readDraft<T>(position: number, name: string, fallback: T): T {
  try {
    const kept = sessionStorage.getItem(keyOf(position, name));
    return kept === null ? fallback : (JSON.parse(kept) as T);
  } catch {
    return fallback;
  }
}

export function keepDraft(position: number, name: string, value: unknown): void {
  try {
    sessionStorage.setItem(keyOf(position, name), JSON.stringify(value));
  } catch {
    // full or forbidden: a reload then loses the draft
  }
}

/** It was sent. */
export function dropDrafts(position: number): void {
  const sent = Object.keys(sessionStorage).filter((key) => key.startsWith(keyOf(position, "")));
  for (const key of sent) sessionStorage.removeItem(key);
}
