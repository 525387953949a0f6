// What shapes a dialogue, part by part, and what changed since a run was made.
import { contentHash, type Json } from "../core/index.ts";
import { agentSystemPrompt, userGuidelines } from "../dialogue/index.ts";
import type { Domain } from "../domains/index.ts";
import type { CallSettings } from "../models/index.ts";
import type { FingerprintParts } from "../runs/index.ts";
import type { DatasetSpec, RunSpec } from "./spec.ts";

export function fingerprintParts(run: RunSpec, dataset: DatasetSpec, domain: Domain): FingerprintParts {
  const { monitor, limits } = run;
  const multiTurn = dataset.maxTurns > 1;
  return clean({
    "domain content": domain.contentHash,
    "agent prompt": contentHash(agentSystemPrompt(domain.policy, dataset.agent.prompt)),
    "agent model": dataset.agent.model,
    "agent settings": samplingOf(dataset.agent.settings),
    ...(multiTurn
      ? {
          "user guidelines": contentHash(userGuidelines(dataset.user.prompt)),
          "user model": dataset.user.model,
          "user settings": samplingOf(dataset.user.settings),
        }
      : {}),
    mode: dataset.mode,
    max_turns: dataset.maxTurns,
    max_steps_per_turn: dataset.maxStepsPerTurn,
    monitor: {
      ...monitor,
      judge: monitor.judge ? { model: monitor.judge.model, ...samplingOf(monitor.judge.settings) } : undefined,
    },
    "rollout limits": limits,
    ...(dataset.faults ? { "tool faults": dataset.faults } : {}),
    seed: run.seed,
  });
}

export function rolloutFingerprint(base: string, queryHash: string): string {
  return contentHash(`${base} ${queryHash}`);
}

/** In words, for a person: what differs between the parts then and now. */
export function describeDrift(then: FingerprintParts | undefined, now: FingerprintParts): string[] {
  if (!then) return [];
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((part) => contentHash(then[part] ?? null) !== contentHash(now[part] ?? null))
    .map((part) =>
      isHash(then[part]) && isHash(now[part]) ? `${part} changed` : `${part}: ${show(then[part])} → ${show(now[part])}`,
    );
}

/** What a model is asked to do differently; not how long we wait for it or how often we try. */
function samplingOf({ timeoutSeconds: _timeout, maxRetries: _retries, ...sampling }: CallSettings): {
  [key: string]: Json;
} {
  return clean(sampling);
}

function clean(parts: { [key: string]: unknown }): { [key: string]: Json } {
  return JSON.parse(JSON.stringify(parts));
}

function isHash(value: Json | undefined): boolean {
  return typeof value === "string" && /^[0-9a-f]{16}$/.test(value);
}

function show(value: Json | undefined): string {
  return value === undefined ? "(not set)" : typeof value === "string" ? value : JSON.stringify(value);
}
