// OpenTelemetry: spans of rollouts, model calls and tool calls for a collector that somebody else runs. Asked for by flag
// or by the standard variables; without that nothing is wrapped, and the SDK is not even loaded.
import type { RunEvent } from "../core/index.ts";
import type { RetryWait } from "../models/index.ts";
import type { RunSpans } from "./run-spans.ts";
import { chooseSettings, type TelemetryOptions } from "./settings.ts";

export type { TelemetryOptions } from "./settings.ts";

/** What a run tells as it goes, and how it ends. */
export type Telemetry = Pick<RunSpans, "begin" | "watchClient" | "watchCall"> & {
  onEvent(event: RunEvent): void;
  onRetry(wait: RetryWait): void;
  /** Sends what is left, for a bounded time. Resolves to a sentence about spans that were lost, if any were. */
  close(): Promise<string | undefined>;
};

/** Undefined if no spans are asked for. Throws a UsageError for flags that cannot work. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  const settings = chooseSettings(options);
  if (!settings) return undefined;
  const { startSdk } = await import("./sdk.ts");
  return startSdk(settings, options.onNotice ?? (() => {}));
}
