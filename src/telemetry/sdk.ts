// The official SDK, set up for one run and registered nowhere: other code in this process keeps its own. Loaded only if
// spans are asked for.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { PROGRAM_VERSION } from "../core/index.ts";
import { Delivery } from "./delivery.ts";
import type { Telemetry } from "./open-telemetry.ts";
import { RunSpans } from "./run-spans.ts";
import type { TelemetrySettings } from "./settings.ts";

const MAX_QUEUED = 8192;

export function startSdk(settings: TelemetrySettings, onNotice: (message: string) => void): Telemetry {
  const { url, shownUrl, content, variables } = settings;
  return lend(variables, () => {
    const delivery = new Delivery(new OTLPTraceExporter({ url, userAgent: `rollout/${PROGRAM_VERSION}` }), {
      url,
      shownUrl,
      onNotice,
    });
    const resource = defaultResource()
      .merge(resourceFromAttributes({ "service.name": "rollout", "service.version": PROGRAM_VERSION }))
      .merge(detectResources({ detectors: [envDetector] }));
    // spans come in bursts; with content they are large
    const room = content || variables.OTEL_BSP_MAX_QUEUE_SIZE ? undefined : MAX_QUEUED;
    const provider = new BasicTracerProvider({ resource, spanProcessors: [new CountedSpans(delivery, room)] });
    const spans = new RunSpans(provider.getTracer("rollout", PROGRAM_VERSION), content);
    return {
      begin: (run) => spans.begin(run),
      watchClient: (client, source) => spans.watchClient(client, source),
      watchCall: (key, call, send) => spans.watchCall(key, call, send),
      onEvent: (event) => spans.onEvent(event),
      onRetry: (wait) => spans.onRetry(wait),
      close: () => {
        spans.endAll();
        return delivery.finish(() => provider.shutdown());
      },
    };
  });
}

/** Also counts spans for which there is no room in the queue: no exporter ever sees them. */
class CountedSpans extends BatchSpanProcessor {
  readonly #delivery: Delivery;

  constructor(delivery: Delivery, maxQueueSize: number | undefined) {
    super(delivery, { maxQueueSize });
    this.#delivery = delivery;
  }

  override onEnd(span: ReadableSpan): void {
    this.#delivery.count(span);
    super.onEnd(span);
  }
}

/** The SDK reads its variables from the process while it is being made. Keys among them are there no longer than that. */
function lend<T>(variables: { [name: string]: string }, make: () => T): T {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (name.startsWith("OTEL_")) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    return make();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
    for (const [name, value] of Object.entries(before)) if (name.startsWith("OTEL_")) process.env[name] = value;
  }
}
