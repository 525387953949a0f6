// `--verbose`: agent, user and tool texts as they come. One rollout is followed live; the lines of the others are held
// and printed in one piece when they end, so that no two dialogues are mixed. What takes long is told on standard error.
import { type RolloutKey, type RunEvent, rolloutId } from "../../core/index.ts";
import { keyText, RunTally } from "../../runs/index.ts";
import { entryLines, messageLines } from "./dialogue-text.ts";
import { createLogLines, hasWork, type LogOptions } from "./log-lines.ts";
import { foundLines, type ProgressView } from "./progress.ts";
import { createSlowCalls } from "./slow-calls.ts";
import { duration, printableName, type Terminal } from "./terminal.ts";

export type VerboseOptions = LogOptions & { maxLength: number; nameDataset: boolean };

export function createVerboseView(terminal: Terminal, options: VerboseOptions): ProgressView {
  const { maxLength, nameDataset, now, load = () => undefined } = options;
  const tally = new RunTally();
  const log = terminal.interactive ? undefined : createLogLines(terminal, tally, { now, load });
  const slow = createSlowCalls(terminal, load);
  /** of running rollouts, in the order in which they started */
  const held = new Map<string, string[]>();
  let followed: string | undefined;
  let last: string | undefined;

  const print = (key: string, title: string, lines: string[]) => {
    if (lines.length === 0) return;
    terminal.out([...(key === last ? [] : [title]), ...lines].join("\n"));
    last = key;
  };
  const titleOf = (event: RolloutKey) => {
    const name = printableName(`${nameDataset ? `${event.dataset} ` : ""}${rolloutId(event)}`);
    return terminal.paint("bold", `── ${name}`);
  };
  const titles = new Map<string, string>();
  const follow = () => {
    followed = held.keys().next().value;
    if (followed === undefined) return;
    print(followed, titles.get(followed) ?? "", held.get(followed) ?? []);
    held.set(followed, []);
  };

  const onRollout = (event: RunEvent & RolloutKey) => {
    const key = keyText(event);
    if (event.type === "rollout-start") {
      held.set(key, messageLines(terminal, event.opening ?? [], maxLength));
      titles.set(key, titleOf(event));
      if (followed === undefined || followed === key) follow();
      return;
    }
    const lines =
      event.type === "entry-end"
        ? entryLines(terminal, event.entry, maxLength)
        : event.type === "rollout-end"
          ? [endLine(event)]
          : [];
    if (event.type === "entry-end" && key !== followed) {
      held.get(key)?.push(...lines);
      return;
    }
    print(key, titles.get(key) ?? titleOf(event), [...(held.get(key) ?? []), ...lines]);
    if (event.type !== "rollout-end") return;
    held.delete(key);
    titles.delete(key);
    if (key === followed) follow();
  };

  return {
    onEvent(event) {
      tally.add(event, now());
      if (event.type === "run-start") {
        for (const line of foundLines(event)) terminal.out(line);
        log?.onEvent(event);
        if (hasWork(event)) slow.start();
      }
      if (event.type === "run-note") terminal.out(printableName(event.message));
      if ("queryId" in event) onRollout(event);
    },
    say: (text) => terminal.err(text),
    stop() {
      slow.stop();
      log?.stop();
    },
  };
}

function endLine(event: Extract<RunEvent, { type: "rollout-end" }>): string {
  const { outcome, turns, toolCalls, durationMs } = event;
  const why = outcome.message ? ` (${printableName(outcome.message)})` : "";
  return `         ${outcome.stopReason}${why}, ${turns} turns, ${toolCalls} tool calls, ${duration(durationMs)}`;
}
