// What the commands print with: the only place that knows the streams, colours, and what may not reach a terminal. Names,
// paths and texts come from others: whatever is printed is cleaned here, and only our own colours pass.
import { randomUUID } from "node:crypto";
import { styleText } from "node:util";
import { redactText } from "../../core/index.ts";

export type Style = Parameters<typeof styleText>[0];

/** Where nothing can be redrawn, how far a command is is told this often. */
export const LINE_MS = 30_000;

export type Terminal = {
  out(text: string): void;
  /** lines redrawn in place: `up` says how many of the lines above are replaced */
  redraw(up: number, lines: readonly string[]): void;
  err(text: string): void;
  /** standard output is a person's screen: it can be redrawn */
  interactive: boolean;
  columns(): number;
  rows(): number;
  paint(style: Style, text: string): string;
};

export type Streams = Pick<NodeJS.Process, "stdout" | "stderr" | "env">;

export function createTerminal({ stdout, stderr, env }: Streams, { colours = true } = {}): Terminal {
  const interactive = Boolean(stdout.isTTY) && env.TERM !== "dumb" && !env.CI;
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0";
  const coloured = colours && (forced || (interactive && !env.NO_COLOR));
  return {
    out: (text) => void stdout.write(`${toScreen(redactText(text))}\n`),
    redraw: (up, lines) =>
      void stdout.write(
        redrawText(
          up,
          lines.map((line) => toScreen(redactText(line))),
        ),
      ),
    err: (text) => void stderr.write(`${toScreen(redactText(text))}\n`),
    interactive,
    columns: () => stdout.columns || 100,
    rows: () => stdout.rows || 24,
    paint: (style, text) =>
      coloured ? styleText(style, printable(text), { validateStream: false }).replaceAll(ESCAPE, OURS) : text,
  };
}

const ESCAPE = "\u001b";
/** Stands for the escape of our own colours until they are printed: no text from elsewhere can know it. */
const OURS = `\ufdd0${randomUUID()}`;

function toScreen(text: string): string {
  return printable(text).replaceAll(OURS, ESCAPE);
}

/** Nothing is cleared without being rewritten in the same write. */
function redrawText(up: number, lines: readonly string[]): string {
  const back = up > 0 ? `${ESCAPE}[${up}A\r` : "";
  return `${back}${lines.map((line) => `${line}${ESCAPE}[K\n`).join("")}${ESCAPE}[J`;
}

/** Texts may not move the cursor, ring the bell, or change the reading direction. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(UNPRINTABLE, "\u00b7");
}

/** Nor may a name take more than its line. */
export function printableName(text: string): string {
  return printable(text).replace(/[\t\n]/g, "\u00b7");
}

/** JSON that means the same, with such characters escaped. */
export function printableJson(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

export function cut(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, Math.max(length - 1, 0)).join("")}…`;
}

/** Cut to this many terminal columns; colour codes take none and are kept. */
export function fitWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let room = width - 1;
  const parts = text.split(EACH_COLOUR).map((part) => {
    if (part.startsWith(OURS)) return part;
    let kept = "";
    for (const character of part) {
      room -= displayWidth(character);
      if (room >= 0) kept += character;
    }
    return kept;
  });
  return `${parts.join("")}…`;
}

/** Columns as wide as their longest cell; numbers right-aligned. */
export function table(cells: string[][], options: { right?: number[]; gap?: number } = {}): string[] {
  const rows = cells.map((row) => row.map(printableName));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ""))));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const space = " ".repeat((widths[column] as number) - displayWidth(cell));
        return options.right?.includes(column) ? space + cell : cell + space;
      })
      .join(" ".repeat(options.gap ?? 2))
      .trimEnd(),
  );
}

/** Colours take no room. */
const COLOUR = new RegExp(`${OURS}\\[[0-9;]*m`, "g");
const EACH_COLOUR = new RegExp(`(${OURS}\\[[0-9;]*m)`);

export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text.replace(COLOUR, ""))
    width += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
      character,
    )
      ? 2
      : 1;
  return width;
}

export function count(number: number): string {
  if (number < 10_000) return String(Math.round(number));
  if (number < 1e6) return `${(number / 1e3).toFixed(number < 1e5 ? 1 : 0)}k`;
  return `${(number / 1e6).toFixed(1)}M`;
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
