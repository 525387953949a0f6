// Pictures of a run. Every bar and every point is a link to the rollouts behind it.
import "./language.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Bar } from "../src/viewer/api.ts";
import { pathTo } from "./address.ts";
import "./pictures.css";
import { clockTime, count } from "./text.ts";

export function rolloutsWhere(run: string, where: string): string {
  return `${pathTo("run", run, "rollouts")}${where ? `?${where}` : ""}`;
}

type BarsProps = { title: string; bars: readonly Bar[]; run: string; note?: string };

const MAX_BARS = 14;

/** Nothing if there are none. */
export function Bars({ title, bars, run, note }: BarsProps) {
  const [isWhole, setWhole] = useState(false);
  if (bars.every((bar) => bar.count === 0)) return null;
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  const shown = isWhole ? bars : bars.slice(0, MAX_BARS);
  return (
    <section class="picture" aria-label={title}>
      <h2>{title}</h2>
      {note && <p class="small">{note}</p>}
      <ul class="bars">
        {shown.map((bar) => (
          <li key={bar.where}>
            <a href={rolloutsWhere(run, bar.where)}>
              <span class="label">{bar.label}</span>{" "}
              <span class="track">
                {bar.count > 0 && <span class="fill" style={{ width: `${(bar.count / most) * 100}%` }} />}
              </span>
              <span class="number">{count(bar.count)}</span>
            </a>
          </li>
        ))}
      </ul>
      {bars.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          All {bars.length}
        </button>
      )}
    </section>
  );
}

export type Point = { x: number; y: number; label: string; href: string };
export type Curve = {
  label: string;
  colour: "--link" | "--odd" | "--good";
  points: readonly Point[];
  /** the interval around each point, where it is known */
  band?: readonly ({ low: number; high: number } | null)[];
};

type CurvesProps = {
  title: string;
  curves: readonly Curve[];
  /** x is a time in seconds */
  isTime?: boolean;
  /** y is a share */
  isShare?: boolean;
  note?: string;
};

const HEIGHT = 220;

/** All curves have the same x. Points are links that lie over the picture. */
export function Curves({ title, curves, isTime = false, isShare = false, note }: CurvesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [places, setPlaces] = useState<{ left: number; top: number; point: Point }[]>([]);
  const data = JSON.stringify(curves);
  useEffect(() => {
    const parent = box.current;
    if (!parent) return;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsFor(parent, curves, { isTime, isShare }), dataOf(curves), parent);
      setPlaces(placesOf(plot, curves));
    };
    draw();
    const sizes = new ResizeObserver(() => {
      if (plot && Math.abs(plot.width - parent.clientWidth) > 1) draw();
    });
    sizes.observe(parent);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      sizes.disconnect();
      scheme.removeEventListener("change", draw);
      plot?.destroy();
    };
  }, [data]);
  return (
    <section class="picture" aria-label={title}>
      <h2>{title}</h2>
      {curves.length > 1 && (
        <p class="small">
          {curves.map((curve) => (
            <span key={curve.label} class="key" style={{ color: `var(${curve.colour})` }}>
              {curve.label}
            </span>
          ))}
        </p>
      )}
      <div class="plot">
        <div ref={box} aria-hidden="true" />
        {places.map(({ left, top, point }) => (
          <a
            key={point.label}
            class="point"
            href={point.href}
            title={point.label}
            style={{ left: `${left}px`, top: `${top}px` }}
          >
            <span class="hidden">{point.label}</span>
          </a>
        ))}
      </div>
      {note && <p class="small">{note}</p>}
    </section>
  );
}

function dataOf(curves: readonly Curve[]): uPlot.AlignedData {
  const xs = (curves[0]?.points ?? []).map(({ x }) => x);
  const rest = curves.flatMap(({ points, band }) => [
    points.map(({ y }) => y),
    ...(band ? [band.map((one) => one?.high ?? null), band.map((one) => one?.low ?? null)] : []),
  ]);
  return [xs, ...rest] as uPlot.AlignedData;
}

function optionsFor(
  parent: HTMLElement,
  curves: readonly Curve[],
  { isTime, isShare }: { isTime: boolean; isShare: boolean },
): uPlot.Options {
  const colourOf = (name: string, alpha = 1) => {
    parent.style.color = `var(${name})`;
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(parent).color.match(/[\d.]+/g) ?? []).map(Number);
    parent.style.color = "";
    return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
  };
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const { colour, band } of curves) {
    series.push({ stroke: colourOf(colour), width: 2, points: { show: true, size: 7, fill: colourOf(colour) } });
    if (!band) continue;
    const edge = { stroke: colourOf(colour, 0.35), width: 1, points: { show: false } };
    bands.push({ series: [series.length, series.length + 1], fill: colourOf(colour, 0.15) });
    series.push(edge, edge);
  }
  const axis = {
    stroke: colourOf("--soft"),
    grid: { stroke: colourOf("--line") },
    ticks: { stroke: colourOf("--line") },
  };
  const isWhole = (split: number) => Number.isInteger(split);
  return {
    width: Math.max(parent.clientWidth, 200),
    height: HEIGHT,
    series,
    bands,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: {
        time: isTime,
        ...(isTime
          ? {}
          : { range: (_: uPlot, low: number, high: number) => [low - 0.3, high + 0.3] as [number, number] }),
      },
      y: {
        range: isShare
          ? [0, 1.03]
          : (_: uPlot, __: number, high: number) => [0, Math.max(1, high * 1.05)] as [number, number],
      },
    },
    axes: [
      isTime
        ? { ...axis, space: 76, values: (_, splits) => splits.map(clockTime) }
        : { ...axis, values: (_, splits) => splits.map((split) => (isWhole(split) ? String(split) : "")) },
      {
        ...axis,
        size: 56,
        values: (_, splits) => splits.map((split) => (isShare ? `${Math.round(split * 100)} %` : count(split))),
      },
    ],
  };
}

function placesOf(plot: uPlot, curves: readonly Curve[]): { left: number; top: number; point: Point }[] {
  const [left, top] = [plot.bbox.left, plot.bbox.top].map((value) => value / devicePixelRatio) as [number, number];
  return curves.flatMap(({ points }) =>
    points.map((point) => ({
      left: left + plot.valToPos(point.x, "x"),
      top: top + plot.valToPos(point.y, "y"),
      point,
    })),
  );
}
