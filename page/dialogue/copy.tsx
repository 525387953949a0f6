// Copying, and saying whether it worked.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";

/** What was copied last, or why nothing was: read aloud where it is shown. */
export const copied = signal("");

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    copied.value = `Copied ${text.length.toLocaleString("en")} characters.`;
    return true;
  } catch {
    copied.value = "The browser does not let this page copy; select the text instead.";
    return false;
  }
}

export function CopyButton({ label, read }: { label: string; read: () => Promise<string> }) {
  const [isDone, setDone] = useState(false);
  const act = async () => {
    setDone(await copy(await read()));
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="copy" aria-label={label} title={label} onClick={() => void act()}>
      {isDone ? "Copied" : "Copy"}
    </button>
  );
}
