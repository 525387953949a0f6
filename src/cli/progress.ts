// What a person sees while a run goes on: one calm block on a terminal, a line every few seconds elsewhere.
import type { RunEvent, RunStart } from "../core/index.ts";
import { count, cut, duration, type Terminal, table } from "./terminal.ts";

const REDRAW_MS = 200;
const LINE_MS = 5000;

export type ProgressView = { onEvent(event: RunEvent): void; stop(): void };

type DatasetProgress = { name: string; planned: number; done: number };

export function createProgress(terminal: Terminal, now: () => number): ProgressView {
  const datasets = new Map<string, DatasetProgress>();
  const counts = { finished: 0, failed: 0, running: 0, toolCalls: 0, tokens: 0, costUsd: 0 };
  const waits = new Map<string, { until: number; reason: string }>();
  let startedAt = now();
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;

  const totals = () => {
    const planned = sum([...datasets.values()].map((dataset) => dataset.planned));
    const done = sum([...datasets.values()].map((dataset) => dataset.done));
    return { planned, done };
  };

  const status = () => {
    const { planned, done } = totals();
    const seconds = Math.max((now() - startedAt) / 1000, 0.001);
    const rate = counts.finished / seconds;
    const left = planned - done - counts.failed;
    return [
      `${done}/${planned} done`,
      `${counts.running} running`,
      ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
      `${rate.toFixed(1)}/s`,
      ...(rate > 0 && left > 0 ? [`about ${duration((left / rate) * 1000)} left`] : []),
      `${count(counts.toolCalls)} tool calls`,
      `${count(counts.tokens)} tokens`,
      ...(counts.costUsd > 0 ? [`$${counts.costUsd.toFixed(2)}`] : []),
    ].join(" · ");
  };

  const waiting = () =>
    [...waits]
      .filter(([, wait]) => wait.until > now())
      .map(([endpoint, wait]) => `${endpoint}: waiting ${Math.ceil((wait.until - now()) / 1000)} s (${wait.reason})`);

  const block = () => {
    const rows = [...datasets.values()].map(({ name, planned, done }) => [
      cut(name, 60),
      bar(terminal, done, planned),
      `${done}/${planned}`,
    ]);
    return [...table(rows, { right: [2] }), status(), ...waiting()].map((line) => cut(line, terminal.columns() + 20));
  };

  const erase = () => {
    if (drawn > 0) terminal.out(`\u001b[${drawn}A\u001b[0J\u001b[1A`);
    drawn = 0;
  };
  const draw = () => {
    const lines = block();
    const before = drawn > 0 ? `\u001b[${drawn}A\u001b[0J` : "";
    terminal.out(before + lines.join("\n"));
    drawn = lines.length;
  };

  const begin = (event: RunStart) => {
    startedAt = now();
    for (const { name, planned, kept } of event.datasets) datasets.set(name, { name, planned, done: kept });
    if (sum(event.datasets.map(({ planned, kept }) => planned - kept)) === 0) return;
    timer = setInterval(
      terminal.interactive ? draw : () => terminal.out(status()),
      terminal.interactive ? REDRAW_MS : LINE_MS,
    );
    if (terminal.interactive) draw();
  };

  return {
    onEvent(event) {
      if (event.type === "run-start") begin(event);
      else if (event.type === "rollout-start") counts.running++;
      else if (event.type === "entry-end") {
        if (event.entry.type === "tool-result") counts.toolCalls++;
        else {
          counts.tokens += event.entry.usage.inputTokens + event.entry.usage.outputTokens;
          counts.costUsd += event.entry.usage.costUsd;
        }
      } else if (event.type === "rollout-end") {
        counts.running--;
        if (event.outcome.stopReason === "infrastructure") counts.failed++;
        else {
          counts.finished++;
          const dataset = datasets.get(event.dataset);
          if (dataset) dataset.done++;
        }
      } else if (event.type === "endpoint-wait") {
        waits.set(event.endpoint, { until: now() + event.seconds * 1000, reason: event.reason });
        if (!terminal.interactive) terminal.out(waiting().join("\n"));
      } else if (event.type === "run-note") {
        if (terminal.interactive) erase();
        terminal.out(event.message);
      }
    },
    stop() {
      if (timer) clearInterval(timer);
      if (terminal.interactive) {
        if (datasets.size > 0 && timer) draw();
      } else if (timer) terminal.out(status());
      timer = undefined;
    },
  };
}

const BAR = 24;

function bar(terminal: Terminal, done: number, planned: number): string {
  const filled = planned === 0 ? BAR : Math.round((done / planned) * BAR);
  return terminal.paint("green", "━".repeat(filled)) + terminal.paint("gray", "─".repeat(BAR - filled));
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
