// How spans get away: by the SDK's exporter, counted. A collector that is down costs one line, and the end of the run is
// held up for a bounded time only.
import { connect } from "node:net";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { cutText, messageOf, redactText } from "../core/index.ts";

type Result = Parameters<Parameters<SpanExporter["export"]>[1]>[0];
type DeliveryOptions = { url: string; shownUrl: string; onNotice: (message: string) => void };

/** For the last spans, and for the answer to a first connection. */
const MAX_FINISH_MS = 2000;

export class Delivery implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #options: DeliveryOptions;
  #ended = 0;
  #delivered = 0;
  /** why the latest export failed, if it did */
  #failure: string | undefined;
  #isTold = false;
  #isFinishing = false;

  constructor(exporter: SpanExporter, options: DeliveryOptions) {
    this.#exporter = exporter;
    this.#options = options;
  }

  /** A span has ended, and is to be sent if the sampler chose it. */
  count(span: ReadableSpan): void {
    this.#ended += span.spanContext().traceFlags & 1;
  }

  export(spans: ReadableSpan[], done: (result: Result) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === 0) {
        this.#delivered += spans.length;
        this.#failure = undefined;
      } else this.#fail(result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #fail(error: unknown): void {
    const { code = "" } = (error ?? {}) as { code?: number | string };
    const message = messageOf(error);
    const text = message.includes(String(code)) ? message : `${code} ${message}`;
    this.#failure = cutText(redactText(text), 200);
    if (this.#isTold || this.#isFinishing) return;
    this.#isTold = true;
    this.#options.onNotice(`${this.#options.shownUrl} takes no spans (${this.#failure}); the run goes on without`);
  }

  /** Waits for the last spans, unless nobody is there to take them. */
  async finish(shutdown: () => Promise<void>): Promise<string | undefined> {
    this.#isFinishing = true;
    const { url, shownUrl } = this.#options;
    const timer = new AbortController();
    const timeUp = new Promise<string>((resolve) => {
      const late = setTimeout(() => resolve("no answer in time"), MAX_FINISH_MS);
      timer.signal.addEventListener("abort", () => clearTimeout(late));
    });
    const isNeeded = this.#ended > this.#delivered;
    const refused = isNeeded && this.#delivered === 0 ? refusal(url, timer.signal) : new Promise<never>(() => {});
    const sent = shutdown().then(
      () => undefined,
      () => undefined,
    );
    const reason = await Promise.race([sent, timeUp, refused]);
    timer.abort();
    const lost = this.#ended - this.#delivered;
    if (lost === 0) return undefined;
    return `${lost} of ${this.#ended} spans did not reach ${shownUrl} (${reason ?? this.#failure ?? "the queue was full"})`;
  }
}

/** Resolves only if no connection can be made; the exporter itself would try for ten seconds. */
function refusal(url: string, signal: AbortSignal): Promise<string> {
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port) || (protocol === "https:" ? 443 : 80),
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on("connect", () => socket.destroy());
    signal.addEventListener("abort", () => socket.destroy());
  });
}
