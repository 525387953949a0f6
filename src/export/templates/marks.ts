// Numbered marks around pieces of a row, which are looked for in what a template makes of it.

export type Span = { start: number; end: number };
type MarkedSpan = Span & { id: number };

export type Marks = {
  open(id: number): string;
  close(id: number): string;
  /** the text without its marks, and what stood between the two marks of one number */
  read(marked: string): { text: string; spans: MarkedSpan[] };
};

const OPEN = "\ue0f1";
const CLOSE = "\ue0f2";

function formsOf(character: string): string[] {
  return [character, `\\u${character.charCodeAt(0).toString(16)}`];
}

/** Marks of private-use characters that do not occur in the text; they are found in ASCII's escapes too. */
export function createMarks(text: string): Marks {
  let code = 0xe0f0;
  while (formsOf(String.fromCharCode(code)).some((form) => text.includes(form))) code--;
  const lead = String.fromCharCode(code);
  const either = (character: string) => `(?:${formsOf(character).join("|\\")})`;
  const pattern = new RegExp(`${either(lead)}(\\d+)(?:(${either(OPEN)})|${either(CLOSE)})`);
  return {
    open: (id) => `${lead}${id}${OPEN}`,
    close: (id) => `${lead}${id}${CLOSE}`,
    read(marked) {
      const parts = marked.split(pattern);
      const opened = new Map<number, number>();
      const spans: MarkedSpan[] = [];
      const texts = [parts[0]!];
      let at = parts[0]!.length;
      for (let index = 1; index < parts.length; index += 3) {
        const id = Number(parts[index]);
        if (parts[index + 1] !== undefined) opened.set(id, at);
        else if (opened.has(id)) {
          spans.push({ id, start: opened.get(id)!, end: at });
          opened.delete(id);
        }
        texts.push(parts[index + 2]!);
        at += parts[index + 2]!.length;
      }
      return { text: texts.join(""), spans };
    },
  };
}
