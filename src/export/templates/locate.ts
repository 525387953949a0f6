// Where the pieces of a row stand in its rendering. Marked pieces show it; a piece whose marks change what the template
// does is searched for in the plain text.
import { BOUNDARIES, type ChatTemplate } from "./load-template.ts";
import { createMarks, type Span } from "./marks.ts";
import { escapeNonAscii } from "./python-values.ts";
import { listParts, type Part, rewriteParts, type TemplateRow } from "./row-parts.ts";

export type Located = {
  parts: (Part & { spans: Span[] })[];
  /** what was written for each message, as far as the template loops over them */
  messages: Map<number, Span[]>;
};

export function locate(template: ChatTemplate, { messages, tools }: TemplateRow, plain: string): Located {
  const parts = listParts(messages).map((part) => ({ ...part, spans: [] as Span[] }));
  const marks = createMarks(plain);
  const located: Located = { parts, messages: new Map() };
  const unclear: number[] = [];
  const boundaries = parts.length;

  const render = (ids: number[]): ReturnType<typeof marks.read> | undefined => {
    const marked = new Set(ids);
    let next = 0;
    const copy = rewriteParts(messages, ({ text }) => {
      const id = next++;
      return marked.has(id) ? marks.open(id) + text + marks.close(id) : text;
    });
    const around = (message: number) => {
      const id = boundaries + message;
      return { open: marks.open(id), close: marks.close(id) };
    };
    try {
      return marks.read(
        template.render({ messages: copy, tools, [BOUNDARIES]: marked.has(boundaries) ? around : undefined }),
      );
    } catch {
      return undefined;
    }
  };

  const look = (ids: number[]): void => {
    const found = render(ids);
    if (found?.text === plain) {
      for (const { id, start, end } of found.spans) {
        const part = parts[id];
        if (!part) collect(located.messages, id - boundaries, { start, end });
        else if (formsOf(part.text).includes(plain.slice(start, end))) part.spans.push({ start, end });
      }
    } else if (ids.length > 1) {
      look(ids.slice(0, ids.length >> 1));
      look(ids.slice(ids.length >> 1));
    } else if (ids[0] !== boundaries) unclear.push(...ids);
  };

  look([...parts.keys(), boundaries]);
  for (const id of unclear) parts[id]!.spans = search(parts, id, plain);
  return located;
}

/** Between the pieces that come before and after it. */
function search(parts: Located["parts"], id: number, plain: string): Span[] {
  const from = Math.max(0, ...parts.slice(0, id).flatMap(({ spans }) => spans.slice(0, 1).map(({ end }) => end)));
  const after = parts.slice(id + 1).flatMap(({ spans }) => spans.slice(0, 1).map(({ start }) => start));
  const to = Math.min(plain.length, ...after.filter((start) => start >= from));
  const region = plain.slice(from, to);
  for (const form of formsOf(parts[id]!.text)) {
    const at = region.indexOf(form);
    if (at !== -1) return [{ start: from + at, end: from + at + form.length }];
  }
  return [];
}

/** A text as it is, and as JSON has it. */
export function formsOf(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  return escaped === text ? [text] : [text, escaped, escapeNonAscii(escaped)];
}

function collect<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
