// A text of a dialogue: JSON where it is JSON, cut where it is long, and always to be copied whole. It is never markup.
import { useMemo, useState } from "preact/hooks";
import type { LongText } from "../../src/viewer/api.ts";
import { get } from "../server.ts";
import { count } from "../text.ts";
import { CopyButton } from "./copy.tsx";
import { JsonView } from "./json.tsx";
import { readJsonText } from "./json-text.ts";

const MAX_SHOWN = 3000;
const MAX_LINES = 60;

/** `path`: where the server has the dialogue. */
export function TextBlock({ value, path, label }: { value: LongText; path: string; label: string }) {
  const [whole, setWhole] = useState<string>();
  const [isAll, setAll] = useState(false);
  const [trouble, setTrouble] = useState<string>();
  const text = whole ?? value.text;
  const json = useMemo(
    () => (value.length === undefined || whole !== undefined ? readJsonText(text) : undefined),
    [text],
  );
  const showAll = async () => {
    setAll(true);
    const found = await readWhole(value, path);
    setTrouble(found.error);
    if (found.value !== undefined) setWhole(found.value);
  };
  const shown = isAll ? text : cut(text);
  const length = value.length ?? text.length;
  const isCut =
    json === undefined && (shown.length < text.length || (value.length !== undefined && whole === undefined));
  return (
    <div class="text">
      <CopyButton label={`Copy ${label}`} read={async () => (await readWhole(value, path)).value ?? text} />
      {json ? (
        <div class="json">
          <JsonView node={json} />
        </div>
      ) : (
        <pre>{shown}</pre>
      )}
      {trouble && <p class="bad">{trouble}</p>}
      {isCut && (
        <button type="button" class="more" onClick={() => void showAll()}>
          Show all ({count(length)} characters)
        </button>
      )}
    </div>
  );
}

function cut(text: string): string {
  let end = -1;
  for (let lines = 0; lines < MAX_LINES; lines++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) break;
  }
  return text.slice(0, Math.min(end === -1 ? text.length : end, MAX_SHOWN));
}

export async function readWhole({ text, number }: LongText, path: string): Promise<{ value?: string; error?: string }> {
  if (number === undefined) return { value: text };
  const answer = await get<{ text: string }>(`${path}/text/${number}`);
  return { value: answer.value?.text, error: answer.error };
}
