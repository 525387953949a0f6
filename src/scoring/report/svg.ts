// Small charts as SVG text, without a library: lines with bands, bars, columns, points. Colours are classes, so that the
// page decides how they look in light and dark mode.

const WIDTH = 520;
const HEIGHT = 260;
const LEFT = 46;
const BOTTOM = 40;
const TOP = 14;
const RIGHT = 14;

export type Point = { x: number; y: number; low?: number; high?: number };
export type Series = { name: string; points: Point[]; dashed?: boolean; colour: number };

/** Values from 0 to 1 over whole numbers. */
export function lineChart(series: readonly Series[], xLabel: string): string {
  const most = Math.max(1, ...series.flatMap(({ points }) => points.map(({ x }) => x)));
  const x = (value: number) => LEFT + (most === 1 ? 0.5 : (value - 1) / (most - 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const lines = series.map(({ points, dashed, colour }) => {
    const band = points.filter(({ low, high }) => low !== undefined && high !== undefined);
    const edge = [
      ...band.map((point) => `${at(x(point.x))},${at(y(point.high as number))}`),
      ...band.toReversed().map((point) => `${at(x(point.x))},${at(y(point.low as number))}`),
    ];
    const path = points.map((point) => `${at(x(point.x))},${at(y(point.y))}`).join(" ");
    return [
      band.length > 1 ? `<polygon class="band c${colour}" points="${edge.join(" ")}"/>` : "",
      `<polyline class="line c${colour}${dashed ? " dashed" : ""}" points="${path}"/>`,
      ...points.map(
        (point) =>
          `<circle class="dot c${colour}" cx="${at(x(point.x))}" cy="${at(y(point.y))}" r="3"><title>${point.x}: ${percent(point.y)}</title></circle>`,
      ),
    ].join("");
  });
  const every = Math.ceil(most / 12);
  const ticks = Array.from({ length: most }, (_, index) => index + 1)
    .filter((value) => value === 1 || value % every === 0 || value === most)
    .map(
      (value) =>
        `<text class="tick" x="${at(x(value))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${value}</text>`,
    );
  return frame([...levels(y), ...lines, ...ticks, axisLabel(xLabel)], xLabel);
}

export type Bar = { label: string; value: number; note: string; colour: number };

/** One bar per line, the longest filling the available width. */
export function barChart(bars: readonly Bar[], label: string): string {
  if (bars.length === 0) return "";
  const row = 24;
  const most = Math.max(...bars.map(({ value }) => value), 1e-9);
  const from = 190;
  const room = WIDTH - from - 90;
  const rows = bars.map(({ label: name, value, note, colour }, index) => {
    const y = TOP + index * row;
    const length = (value / most) * room;
    return [
      `<text class="name" x="${from - 8}" y="${y + 13}" text-anchor="end">${escapeHtml(shorten(name, 28))}<title>${escapeHtml(name)}</title></text>`,
      `<rect class="bar c${colour}" x="${from}" y="${y + 2}" width="${at(Math.max(length, value > 0 ? 1.5 : 0))}" height="${row - 9}" rx="2"/>`,
      `<text class="tick" x="${at(from + length + 6)}" y="${y + 13}">${escapeHtml(note)}</text>`,
    ].join("");
  });
  return frame(rows, label, TOP + bars.length * row + 4);
}

/** How often each whole number occurs. */
export function columnChart(counts: { [value: string]: number }, xLabel: string): string {
  const values = Object.keys(counts).map(Number);
  if (values.length === 0) return "";
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const size = Math.max(1, Math.ceil((most - least + 1) / 30));
  const bins = Array.from({ length: Math.ceil((most - least + 1) / size) }, (_, index) => {
    const from = least + index * size;
    const count = Array.from({ length: size }, (_, step) => counts[from + step] ?? 0).reduce((sum, n) => sum + n, 0);
    return { from, count };
  });
  const tallest = Math.max(...bins.map(({ count }) => count));
  const width = (WIDTH - LEFT - RIGHT) / bins.length;
  const drawn = bins.map(({ from, count }, index) => {
    const height = (count / tallest) * (HEIGHT - TOP - BOTTOM);
    const x = LEFT + index * width;
    const name = size === 1 ? `${from}` : `${from}–${from + size - 1}`;
    const isNamed = index % Math.ceil(bins.length / 15) === 0;
    return [
      `<rect class="bar c0" x="${at(x + width * 0.1)}" y="${at(HEIGHT - BOTTOM - height)}" width="${at(width * 0.8)}" height="${at(height)}" rx="2"><title>${name}: ${count}</title></rect>`,
      isNamed
        ? `<text class="tick" x="${at(x + width / 2)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${from}</text>`
        : "",
    ].join("");
  });
  const top = `<text class="tick" x="${LEFT - 6}" y="${TOP + 4}" text-anchor="end">${tallest}</text>`;
  const base = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}"/>`;
  return frame([base, ...drawn, top, axisLabel(xLabel)], xLabel);
}

/** Points over an amount; a value from 0 to 1 upwards. */
export function scatterChart(
  points: readonly (Point & { name: string })[],
  xLabel: string,
  show: (x: number) => string,
): string {
  if (points.length === 0) return "";
  const most = Math.max(...points.map(({ x }) => x), 1e-12);
  const x = (value: number) => LEFT + 8 + (value / most) * (WIDTH - LEFT - RIGHT - 16);
  const y = (value: number) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const dots = points.map(
    (point) =>
      `<circle class="point c0" cx="${at(x(point.x))}" cy="${at(y(point.y))}" r="4"><title>${escapeHtml(point.name)}: ${show(point.x)}, ${percent(point.y)}</title></circle>`,
  );
  const ticks = [0, 0.5, 1].map(
    (part) =>
      `<text class="tick" x="${at(x(part * most))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${show(part * most)}</text>`,
  );
  return frame([...levels(y), ...dots, ...ticks, axisLabel(xLabel)], xLabel);
}

function levels(y: (value: number) => number): string[] {
  return [0, 0.25, 0.5, 0.75, 1].map(
    (level) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(y(level))}" y2="${at(y(level))}"/><text class="tick" x="${LEFT - 6}" y="${at(y(level) + 4)}" text-anchor="end">${level * 100} %</text>`,
  );
}

function axisLabel(text: string): string {
  return `<text class="axis" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escapeHtml(text)}</text>`;
}

function frame(parts: readonly string[], label: string, height = HEIGHT): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(label)}">${parts.join("")}</svg>`;
}

export function percent(share: number | null): string {
  if (share === null) return "–";
  return `${(share * 100).toFixed(1)} %`;
}

function at(number: number): string {
  return String(Math.round(number * 10) / 10);
}

function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}

const ENTITIES: { [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text of models and tools; bidirectional controls and unprintable characters are shown as a dot. */
export function escapeHtml(text: string): string {
  return text.replace(UNSHOWN, "\u00b7").replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here
const UNSHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
