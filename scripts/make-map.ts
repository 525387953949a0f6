// Draws docs/architecture.svg from the real import graph: npx tsx scripts/make-map.ts
// Rooms go left to right in the order of scripts/rooms.json, which the arrow check uses too; an arrow means that a
// room's sources import another's door. Arrows that a longer path implies are left out.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../src", import.meta.url));
const order = JSON.parse(readFileSync(new URL("rooms.json", import.meta.url), "utf8")) as string[][];

const BOX = { width: 104, height: 40, gapX: 38, gapY: 26, margin: 24 };

export function drawMap(): string {
  const imports = readImports();
  const heights = order.map((rooms) => rooms.length * (BOX.height + BOX.gapY) - BOX.gapY);
  const height = Math.max(...heights) + 3 * BOX.margin;
  const width = order.length * (BOX.width + BOX.gapX) - BOX.gapX + 2 * BOX.margin;
  const boxes = new Map<string, { x: number; y: number }>();
  for (const [column, rooms] of order.entries()) {
    const top = BOX.margin + (Math.max(...heights) - (heights[column] as number)) / 2;
    for (const [row, room] of rooms.entries())
      boxes.set(room, { x: BOX.margin + column * (BOX.width + BOX.gapX), y: top + row * (BOX.height + BOX.gapY) });
  }
  const arrows = [...imports].flatMap(([from, targets]) =>
    [...targets].filter((to) => !isImplied(from, to, imports)).map((to) => drawArrow(boxes, from, to)),
  );
  const rooms = [...boxes].map(([room, { x, y }]) => {
    const text = `<text x="${x + BOX.width / 2}" y="${y + BOX.height / 2 + 5}" text-anchor="middle">${room}</text>`;
    return `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6"/>${text}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The rooms of src and which imports which">
<style>rect{fill:#f6f8fa;stroke:#57606a}text{font:14px sans-serif;fill:#24292f}path{fill:none;stroke:#8c959f;stroke-width:1.3}marker path{fill:#8c959f;stroke:none}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
<rect x="0" y="0" width="${width}" height="${height}" style="fill:#fff;stroke:none"/>
${[...arrows, ...rooms].join("\n")}
</svg>
`;
}

/** Each room with the rooms that its sources import, tests left out. */
export function readImports(): Map<string, Set<string>> {
  const rooms = order.flat();
  const imports = new Map(rooms.map((room) => [room, new Set<string>()]));
  for (const room of rooms) {
    for (const file of sourcesIn(join(SOURCE, room))) {
      for (const [, target = ""] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"|import\("(\.[^"]+)"\)/g)) {
        const other = relative(SOURCE, resolve(dirname(file), target)).split("/")[0] as string;
        if (other !== room && imports.has(other)) imports.get(room)?.add(other);
      }
    }
  }
  return imports;
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^bundled\//.test(file))
    .map((file) => join(folder, file));
}

/** Whether another room that `from` imports also leads to `to`. */
function isImplied(from: string, to: string, imports: Map<string, Set<string>>): boolean {
  const reaches = (room: string): boolean =>
    [...(imports.get(room) ?? [])].some((next) => next === to || reaches(next));
  return [...(imports.get(from) ?? [])].some((via) => via !== to && reaches(via));
}

/** Straight from side to side between neighbours; below any rooms in between. */
function drawArrow(boxes: Map<string, { x: number; y: number }>, from: string, to: string): string {
  const start = boxes.get(from) as { x: number; y: number };
  const end = boxes.get(to) as { x: number; y: number };
  if (start.x - end.x <= BOX.width + BOX.gapX) {
    const [x1, y1] = [start.x, start.y + BOX.height / 2];
    const [x2, y2] = [end.x + BOX.width, end.y + BOX.height / 2];
    return drawCurve([x1, y1, x1 - BOX.gapX / 2, y1, x2 + BOX.gapX / 2, y2, x2 + 1, y2]);
  }
  const [x1, y1] = [start.x + BOX.width / 4, start.y + BOX.height];
  const [x2, y2] = [end.x + (BOX.width * 3) / 4, end.y + BOX.height + 1];
  const below = Math.max(y1, y2) + BOX.margin * 2;
  return drawCurve([x1, y1, x1, below, x2, below, x2, y2]);
}

function drawCurve([x1, y1, ...rest]: number[]): string {
  return `<path marker-end="url(#tip)" d="M${x1} ${y1}C${rest.join(" ")}"/>`;
}

if (process.argv[1]?.endsWith("make-map.ts"))
  writeFileSync(new URL("../docs/architecture.svg", import.meta.url), drawMap());
