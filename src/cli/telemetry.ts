// Spans around a command's work: opened if they are asked for, closed whatever happens.
import { openTelemetry, type Telemetry } from "../telemetry/index.ts";
import type { RunFlags } from "./flags.ts";
import type { Host } from "./host.ts";

/** The exporter of spans that nobody took would keep the process for seconds. */
const MAX_END_MS = 100;

export async function withTelemetry<T>(
  host: Pick<Host, "env" | "exit">,
  { otel, otelContent }: RunFlags,
  onNotice: (message: string) => void,
  work: (telemetry: Telemetry | undefined) => Promise<T>,
): Promise<T> {
  const telemetry = await openTelemetry({ env: host.env, otel, otelContent, onNotice });
  try {
    return await work(telemetry);
  } finally {
    const lost = await telemetry?.close();
    if (lost !== undefined) {
      onNotice(lost);
      setTimeout(() => host.exit(), MAX_END_MS).unref();
    }
  }
}
