// One gate per endpoint, shared by all callers: limits on concurrent requests, requests and tokens per minute; fewer
// at once when the server says "too many", more again when it copes; none while it asks for a pause, is in trouble or
// fails for everyone. Requests pass in order of arrival, so no rollout starves.
import { type Clock, type ModelClient, onAbort, type RequestOrigin, type Usage } from "../core/index.ts";
import { Breaker } from "./breaker.ts";
import { type Admission, Concurrency } from "./concurrency.ts";
import { estimateTokens, TokenScale } from "./estimate.ts";
import { type FailureKind, ModelFailure } from "./failure.ts";
import { MinuteWindow, type Spending } from "./minute-window.ts";
import type { EndpointLimits } from "./resolved.ts";
import { MAX_RETRY_AFTER_MS } from "./retry.ts";

/** What users should see of an endpoint: that it is waited for, left alone, or back. */
export type EndpointEvent = {
  type: "endpoint-wait" | "endpoint-breaker" | "endpoint-resume";
  endpoint: string;
  seconds: number;
  reason: string;
  inFlight: number;
  waiting: number;
};

export type GateOptions = { clock: Clock; onEvent?: ((event: EndpointEvent) => void) | undefined };

/** The same gate for the same base URL and key; if its callers' limits differ, the tighter one applies. */
export interface Gates {
  all(): Iterable<EndpointGate>;
  for(baseUrl: string, caller: { keyName?: string; limits: EndpointLimits }): EndpointGate;
}

export function createGates(options: GateOptions): Gates {
  const gates = new Map<string, EndpointGate>();
  return {
    all: () => gates.values(),
    for(baseUrl, { keyName, limits }) {
      const key = `${baseUrl} ${keyName ?? ""}`;
      const gate = gates.get(key) ?? new EndpointGate(shownUrl(baseUrl), options);
      gates.set(key, gate);
      gate.tighten(limits);
      return gate;
    },
  };
}

export function withLimits(client: ModelClient, gate: EndpointGate): ModelClient {
  const scale = gate.scaleOf(client.id);
  return {
    id: client.id,
    async complete(request, signal) {
      const need = { estimated: gate.countsTokens ? estimateTokens(request) : 0, scale };
      const pass = gate.enterNow(need, signal) ?? (await gate.enter(need, signal));
      try {
        const reply = await client.complete(request, signal);
        gate.succeed(pass, reply.usage);
        return reply;
      } catch (error) {
        gate.fail(pass, error, request.origin);
        throw error;
      }
    },
  };
}

/** A request's tokens, as estimated; how many those are on its model's scale may become clear while it waits. */
type Need = { estimated: number; scale: TokenScale };
type Pass = { need: Need; admission: Admission; isProbe: boolean; spending: Spending | undefined };
type Ticket = { need: Need; admit: (pass: Pass) => void; refuse: (error: unknown) => void };
type Wait = { milliseconds: number; reason: string };

/** None of ours: `max_workers` bounds what is in flight, and the server says when it is too much. */
const MAX_IN_FLIGHT = Number.MAX_SAFE_INTEGER;
const GO: Wait = { milliseconds: 0, reason: "" };
/** Failures of the endpoint; any other answer shows that it is alive. */
const OUTAGES: ReadonlySet<FailureKind> = new Set(["server", "network", "timeout", "bad-reply"]);

export class EndpointGate {
  readonly endpoint: string;
  readonly #clock: Clock;
  readonly #onEvent: GateOptions["onEvent"];
  readonly #breaker = new Breaker();
  /** a Set keeps the order of arrival and lets aborted requests leave */
  readonly #queue = new Set<Ticket>();
  readonly #concurrency = new Concurrency(MAX_IN_FLIGHT);
  /** by model */
  readonly #scales = new Map<string, TokenScale>();
  #requests: MinuteWindow | undefined;
  #tokens: MinuteWindow | undefined;
  #inFlight = 0;
  #pausedUntil = 0;
  #announcedUntil = 0;
  #alarm: { at: number; controller: AbortController } | undefined;
  #isParked = false;

  constructor(endpoint: string, options: GateOptions) {
    this.endpoint = endpoint;
    this.#clock = options.clock;
    this.#onEvent = options.onEvent;
  }

  get inFlight(): number {
    return this.#inFlight;
  }
  get waiting(): number {
    return this.#queue.size;
  }
  /** how many requests may currently be in flight at once */
  get cap(): number {
    return this.#concurrency.cap;
  }
  get countsTokens(): boolean {
    return this.#tokens !== undefined;
  }
  get isHealthy(): boolean {
    return this.#breaker.isClosed && this.#pausedUntil <= this.#clock.elapsed();
  }

  /** All callers of one model share its scale. */
  scaleOf(model: string): TokenScale {
    const scale = this.#scales.get(model) ?? new TokenScale();
    this.#scales.set(model, scale);
    return scale;
  }

  /** what the next request in line waits for; no reason if for nothing */
  get hold(): Wait {
    const [next] = this.#queue;
    return next ? this.#waitFor(next.need, this.#clock.elapsed()) : GO;
  }

  tighten(limits: EndpointLimits): void {
    this.#concurrency.tighten(Math.max(1, limits.maxInFlight ?? MAX_IN_FLIGHT));
    this.#requests = chooseTighter(this.#requests, limits.requestsPerMinute);
    this.#tokens = chooseTighter(this.#tokens, limits.tokensPerMinute);
  }

  /** A slot, if one is free. Throws the signal's reason, or a ModelFailure while the endpoint is down. */
  enterNow(need: Need, signal: AbortSignal): Pass | undefined {
    signal.throwIfAborted();
    if (this.#isParked) throw parkedError();
    const now = this.#clock.elapsed();
    if (this.#breaker.isGivenUp && this.#breaker.waitFor(now) > 0) throw this.#outOfOrder();
    const isFree = this.#queue.size === 0 && this.#waitFor(need, now).milliseconds === 0;
    return isFree ? this.#start(need, now) : undefined;
  }

  /** The same; waits for a slot. */
  async enter(need: Need, signal: AbortSignal): Promise<Pass> {
    const pass = this.enterNow(need, signal);
    if (pass) return pass;
    return await new Promise((resolve, reject) => {
      const ticket: Ticket = {
        need,
        admit: (pass) => {
          leave();
          resolve(pass);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const leave = onAbort(signal, () => {
        this.#queue.delete(ticket);
        ticket.refuse(signal.reason);
        this.#pump();
      });
      this.#queue.add(ticket);
      this.#pump();
    });
  }

  /** No new request begins; those in flight may finish. */
  park(): void {
    this.#isParked = true;
    this.#alarm?.controller.abort(); // a timer left behind would keep the process waiting
    this.#alarm = undefined;
    const refused = [...this.#queue];
    this.#queue.clear();
    for (const ticket of refused) ticket.refuse(parkedError());
  }

  succeed(pass: Pass, usage: Usage): void {
    this.#inFlight--;
    const used = usage.inputTokens + usage.outputTokens;
    if (pass.spending && used > 0) this.#tokens?.correct(pass.spending, used, this.#clock.elapsed());
    pass.need.scale.learn(pass.need.estimated, usage.inputTokens);
    this.#concurrency.succeed(pass.admission);
    this.#answered();
    this.#pump();
  }

  fail(pass: Pass, error: unknown, origin: RequestOrigin): void {
    const now = this.#clock.elapsed();
    if (!(error instanceof ModelFailure) || error.kind === "local") {
      if (pass.isProbe) this.#breaker.abandonProbe();
      // out of descriptors here: fewer at once need fewer
      if (error instanceof ModelFailure) this.#concurrency.refuse(pass.admission, this.#inFlight - 1);
    } else if (OUTAGES.has(error.kind)) {
      const owner = `${origin.dataset}\n${origin.queryId}\n${origin.rollout}`;
      const milliseconds = this.#breaker.fail(error, { owner, isProbe: pass.isProbe, now });
      if (milliseconds !== undefined) this.#open(milliseconds, error, now);
    } else {
      this.#answered();
      if (error.kind === "rate-limit") this.#slowDown(pass, error, now);
    }
    if (error instanceof ModelFailure && error.retryAfterMs !== undefined) this.#pause(error, error.retryAfterMs, now);
    this.#inFlight--;
    this.#pump();
  }

  #start(need: Need, now: number): Pass {
    this.#inFlight++;
    this.#requests?.spend(1, now);
    const admission = this.#concurrency.admit(this.#inFlight);
    const spending = this.#tokens?.spend(need.scale.apply(need.estimated), now);
    return { need, admission, spending, ...this.#breaker.start() };
  }

  #waitFor({ estimated, scale }: Need, now: number): Wait {
    if (this.#inFlight >= this.cap) return { milliseconds: Number.POSITIVE_INFINITY, reason: "no more at once" };
    const forBreaker = longer(GO, this.#breaker.waitFor(now), "it fails for everyone");
    const forPause = longer(forBreaker, this.#pausedUntil - now, "it asks for a pause");
    const forRequests = longer(forPause, this.#requests?.waitFor(1, now), "requests per minute");
    return longer(forRequests, this.#tokens?.waitFor(scale.apply(estimated), now), "tokens per minute");
  }

  /** Admits requests from the front of the queue, and sets an alarm for the first that must wait. */
  #pump(): void {
    for (const ticket of this.#queue) {
      const now = this.#clock.elapsed();
      const wait = this.#waitFor(ticket.need, now);
      if (wait.milliseconds > 0) {
        this.#sleep(wait, now);
        return;
      }
      this.#queue.delete(ticket);
      ticket.admit(this.#start(ticket.need, now));
    }
    this.#alarm?.controller.abort();
    this.#alarm = undefined;
  }

  #sleep({ milliseconds, reason }: Wait, now: number): void {
    // if the wait is open-ended, the next finished request wakes the queue
    if (milliseconds === Number.POSITIVE_INFINITY) return;
    this.#announce("endpoint-wait", { milliseconds, reason, now });
    const at = now + milliseconds;
    if (this.#alarm && this.#alarm.at <= at) return;
    this.#alarm?.controller.abort();
    const alarm = { at, controller: new AbortController() };
    this.#alarm = alarm;
    this.#clock.sleep(milliseconds, alarm.controller.signal).then(
      () => {
        if (this.#alarm === alarm) this.#alarm = undefined;
        this.#pump();
      },
      () => undefined,
    );
  }

  #slowDown(pass: Pass, error: ModelFailure, now: number): void {
    const told = error.retryAfterMs !== undefined;
    const pause = this.#concurrency.refuse(pass.admission, this.#inFlight - 1, told);
    if (pause !== undefined && !told) this.#pause(error, pause, now);
  }

  #pause(error: ModelFailure, milliseconds: number, now: number): void {
    if (milliseconds > MAX_RETRY_AFTER_MS) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + milliseconds);
    this.#announce("endpoint-wait", { milliseconds, reason: error.message, now });
  }

  #open(milliseconds: number, error: ModelFailure, now: number): void {
    this.#announcedUntil = 0;
    this.#announce("endpoint-breaker", { milliseconds, reason: error.message, now });
    const refused = [...this.#queue];
    this.#queue.clear();
    for (const ticket of refused) ticket.refuse(this.#outOfOrder());
  }

  #outOfOrder(): ModelFailure {
    const retryable = !this.#breaker.isGivenUp;
    const end = retryable ? "it is left alone for a while" : "given up";
    const message = `${this.endpoint} fails the same way for everyone; ${end}`;
    return new ModelFailure("unavailable", message, { retryable, own: false });
  }

  #answered(): void {
    if (!this.#breaker.succeed()) return;
    this.#announcedUntil = 0;
    this.#emit("endpoint-resume", 0, "it answers again");
  }

  /** One event per wait, no matter how many requests wait. */
  #announce(type: EndpointEvent["type"], wait: Wait & { now: number }): void {
    if (wait.now < this.#announcedUntil || wait.milliseconds < 1000) return;
    this.#announcedUntil = wait.now + wait.milliseconds;
    this.#emit(type, Math.ceil(wait.milliseconds / 1000), wait.reason);
  }

  #emit(type: EndpointEvent["type"], seconds: number, reason: string): void {
    const { endpoint, inFlight, waiting } = this;
    this.#onEvent?.({ type, endpoint, seconds, reason, inFlight, waiting });
  }
}

function longer(wait: Wait, milliseconds: number | undefined, reason: string): Wait {
  return milliseconds !== undefined && milliseconds > wait.milliseconds ? { milliseconds, reason } : wait;
}

function parkedError(): ModelFailure {
  return new ModelFailure("unavailable", "The run was stopped before this call was made", { retryable: false });
}

function chooseTighter(window: MinuteWindow | undefined, limit: number | undefined): MinuteWindow | undefined {
  if (limit === undefined) return window;
  if (!window) return new MinuteWindow(limit);
  window.tighten(limit);
  return window;
}

/** Without credentials and query. */
function shownUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname;
}
