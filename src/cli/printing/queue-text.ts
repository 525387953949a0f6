// A queue in words: its runs and workers.
import type { DroppedRun, QueueContents, QueuedRun } from "../../queue/index.ts";
import { rateText, seenText } from "./load-text.ts";
import { type Terminal, table } from "./terminal.ts";

export function contentLines(terminal: Terminal, { place, runs, workers, bytes }: QueueContents): string[] {
  const names = new Map(runs.map(({ id, name }) => [id, name]));
  const head = `${place}: ${counted(runs.length, "run")}, ${counted(workers.length, "worker")}, ${sizeText(bytes)} in all`;
  const workerRows = workers.map((worker) => [
    worker.host,
    `${worker.pid}`,
    `${worker.inFlight}`,
    rateText(worker.perSecond),
    seenText(worker),
    worker.version,
    worker.runs.map((id) => names.get(id) ?? id.slice(0, ID)).join(", ") || "none",
  ]);
  return [
    terminal.paint("bold", head),
    ...(runs.length > 0 ? ["", ...table([RUN_HEAD, ...runs.map(runRow)], { right: [4, 5, 6, 7, 8, 9, 10] })] : []),
    ...(workers.length > 0 ? ["", ...table([WORKER_HEAD, ...workerRows], { right: [1, 2, 3] })] : []),
  ];
}

/** Characters of an id that tell runs apart. */
const ID = 8;

const RUN_HEAD = [
  ...["run", "id", "state", "collector", "planned", "done", "failed", "in flight", "waiting", "not collected", "size"],
  ...["version", "created"],
];
const WORKER_HEAD = ["worker on", "pid", "in flight", "rate", "sign of life", "version", "runs"];

function runRow(run: QueuedRun): string[] {
  const { collector, uncollected } = run;
  return [
    ...[run.name, run.id.slice(0, ID), run.state],
    `${collector.host} (${collector.isAlive ? `alive, process ${collector.pid}` : "not there"})`,
    ...[run.planned, run.done ?? "–", run.failed, run.inFlight, run.waiting ?? "–"].map(String),
    counted(uncollected.entries, "entry", "entries"),
    ...[sizeText(run.bytes), run.version, `${run.createdAt.slice(0, 16).replace("T", " ")} UTC`],
  ];
}

export function droppedText({ name, folder, host, entries, records, unmade, files }: DroppedRun): string {
  const lost =
    entries + records > 0
      ? `lost with it: ${counted(entries, "entry", "entries")} and ${counted(records, "record")} that nobody had collected`
      : "all of its entries had been collected";
  const left = unmade > 0 ? `; ${counted(unmade, "rollout")} not made` : "";
  const gone = files > 0 ? `; ${counted(files, "file")} that no other run needs removed too` : "";
  return `${name} is off the queue; ${lost}${left}${gone}. Its folder is ${folder} on ${host}`;
}

function counted(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
