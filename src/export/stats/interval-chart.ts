// Shares from 0 to 1 with their intervals, one line each, as SVG text in the look of the report's charts.

import { cutText } from "../../core/index.ts";
import { escapeHtml, type Interval } from "../../scoring/index.ts";

type Line = { label: string; share: number; interval: Interval | undefined; note: string };

const [WIDTH, FROM, TO, TOP, ROW] = [520, 190, 410, 14, 24];

export function intervalChart(lines: readonly Line[], label: string): string {
  if (lines.length === 0) return "";
  const x = (share: number) => Math.round((FROM + share * (TO - FROM)) * 10) / 10;
  const bottom = TOP + lines.length * ROW;
  const grid = [0, 0.5, 1].map(
    (share) =>
      `<line class="grid" x1="${x(share)}" x2="${x(share)}" y1="${TOP}" y2="${bottom}"/><text class="tick" x="${x(share)}" y="${bottom + 16}" text-anchor="middle">${share * 100} %</text>`,
  );
  const rows = lines.map(({ label: name, share, interval, note }, index) => {
    const y = TOP + index * ROW + ROW / 2;
    return [
      `<text class="name" x="${FROM - 12}" y="${y + 4}" text-anchor="end">${escapeHtml(cutText(name, 28))}<title>${escapeHtml(name)}</title></text>`,
      interval ? `<line class="line c0" x1="${x(interval.low)}" x2="${x(interval.high)}" y1="${y}" y2="${y}"/>` : "",
      `<circle class="dot c0" cx="${x(share)}" cy="${y}" r="4.5"/>`,
      `<text class="tick" x="${TO + 10}" y="${y + 4}">${escapeHtml(note)}</text>`,
    ].join("");
  });
  return `<svg viewBox="0 0 ${WIDTH} ${bottom + 24}" role="img" aria-label="${escapeHtml(label)}">${[...grid, ...rows].join("")}</svg>`;
}
