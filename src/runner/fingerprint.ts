// What shapes a dialogue, part by part.
import type { DatasetSpec, ResolvedRun } from "../config/index.ts";
import { contentHash, hideSecret } from "../core/index.ts";
import { STOP_CONDITIONS, userGuidelines } from "../dialogue/index.ts";
import type { CallSettings, ToolFormat } from "../models/index.ts";
import type { FingerprintParts } from "../runs/index.ts";

/** Tool formats as the registry and the config together make them. */
export type SentContent = {
  domainHash: string;
  systemHash: string;
  toolFormats?: { agent: ToolFormat; user?: ToolFormat };
};

export function fingerprintParts(run: ResolvedRun, dataset: DatasetSpec, sent: SentContent): FingerprintParts {
  const { judge } = run;
  const { user } = dataset;
  const isMultiTurn = dataset.maxTurns > 1;
  return toJson({
    "domain content": sent.domainHash,
    "agent prompt": sent.systemHash,
    "agent model": dataset.agent.model,
    "agent settings": samplingOf(dataset.agent.settings),
    "agent tool format": unlessNative(sent.toolFormats?.agent),
    "user guidelines": isMultiTurn ? contentHash(userGuidelines(user.prompt)) : undefined,
    "user model": isMultiTurn ? user.model : undefined,
    "user settings": isMultiTurn ? samplingOf(user.settings) : undefined,
    "user tool format": unlessNative(sent.toolFormats?.user),
    context: contextOf(run, dataset),
    "judge model": judge?.model,
    "judge settings": judge && samplingOf(judge.settings),
    mode: dataset.mode,
    max_steps_per_turn: dataset.maxStepsPerTurn,
    ...Object.fromEntries(STOP_CONDITIONS.map(({ key }) => [key, dataset.stops[key]])),
    "answer format": dataset.rounds ? dataset.answerFormat : undefined,
    "tool faults": dataset.faults,
    setup: dataset.defaults.setup,
    "user tools": dataset.defaults.userTools,
    seed: run.config.seed,
  });
}

/** Undefined where nothing but the server ends a dialogue that is too long. */
function contextOf({ summary }: ResolvedRun, { context: { limit, onFull } }: DatasetSpec): object | undefined {
  if (onFull === "end" && limit === undefined) return undefined;
  return { limit, on_full: onFull, summary_model: summary?.model };
}

/** What changes a model's output; not how long we wait for it or how often we try. */
function samplingOf({ timeoutSeconds: _timeout, maxRetries: _retries, ...sampling }: CallSettings): FingerprintParts {
  return toJson(sampling);
}

/** Runs from before there were formats were native. */
function unlessNative(format: ToolFormat | undefined): ToolFormat | undefined {
  return format === "native" ? undefined : format;
}

/** Without keys, which shape nothing: a new one is no drift. */
function toJson(parts: { [key: string]: unknown }): FingerprintParts {
  return JSON.parse(
    JSON.stringify(parts, (name, value: unknown) => (typeof value === "string" ? hideSecret(name, value) : value)),
  );
}
