// The spans of a run: `invoke_agent` for each rollout, and under it `chat` for each call of a model and `execute_tool` for
// each call of a tool. Nothing is kept of a rollout that has ended.
import { basename } from "node:path";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import {
  addUsage,
  contentHash,
  cutText,
  type ModelClient,
  messageOf,
  NO_USAGE,
  type RolloutEnd,
  RolloutError,
  type RolloutKey,
  type RolloutStart,
  type RunEvent,
  redactSaid,
  redactText,
  rolloutId,
  type ToolCall,
  type ToolResult,
  type Usage,
} from "../core/index.ts";
import type { RetryWait } from "../models/index.ts";
import { keyText } from "../runs/index.ts";
import {
  callAttributes,
  callContent,
  clean,
  endAttributes,
  type ModelSource,
  modelAttributes,
  replyAttributes,
  replyContent,
  requestContent,
  resultContent,
  serverAttributes,
  usageAttributes,
} from "./attributes.ts";

type OpenRollout = {
  span: Span;
  context: Context;
  conversation: string;
  /** calls in flight: of models by party, of tools by id */
  calls: Map<string, Span>;
  /** of the agent, in this span */
  usage: Usage;
};

export type BegunRun = {
  folder: string;
  createdAt: string;
  datasets: { spec: { name: string }; agent: ModelSource }[];
};

export class RunSpans {
  readonly #tracer: Tracer;
  readonly #content: boolean;
  readonly #open = new Map<string, OpenRollout>();
  readonly #agents = new Map<string, Attributes>();
  #run = "";
  /** the same for a run however often it is continued, another for the next run in the same folder */
  #runId = "";

  constructor(tracer: Tracer, content: boolean) {
    this.#tracer = tracer;
    this.#content = content;
  }

  begin({ folder, createdAt, datasets }: BegunRun): void {
    this.#run = basename(folder);
    this.#runId = `${this.#run}-${contentHash([folder, createdAt]).slice(0, 8)}`;
    for (const { spec, agent } of datasets) this.#agents.set(spec.name, modelAttributes(agent));
  }

  onEvent(event: RunEvent): void {
    if (event.type === "rollout-start") this.#begin(event);
    else if (event.type === "rollout-end") this.#end(event);
    else if (event.type === "run-end") this.endAll();
  }

  /** One call will be tried again. */
  onRetry({ origin, error, attempt, milliseconds }: RetryWait): void {
    const span = this.#open.get(keyText(origin))?.calls.get(origin.party);
    span?.setAttribute("rollout.retries", attempt);
    span?.addEvent("retry", { "error.type": typeOf(error), "rollout.wait_seconds": milliseconds / 1000 });
  }

  /** Spans of all calls of one rollout that really go to this model. */
  watchClient(client: ModelClient, source: ModelSource): ModelClient {
    const { scripted } = source;
    const model = { ...modelAttributes(source), ...serverAttributes(source) };
    const name = `chat ${model["gen_ai.request.model"]}`;
    const kind = scripted ? SpanKind.INTERNAL : SpanKind.CLIENT;
    let open: OpenRollout | undefined;
    return {
      id: client.id,
      complete: async (request, signal) => {
        const { party } = request.origin;
        open ??= this.#open.get(keyText(request.origin));
        const span = this.#start(
          name,
          kind,
          { "gen_ai.operation.name": "chat", "rollout.party": party, ...model },
          open,
        );
        open?.calls.set(party, span);
        try {
          const reply = await client.complete(request, signal);
          span.setAttributes(replyAttributes(reply));
          if (reply.malformed) span.setStatus({ code: SpanStatusCode.ERROR, message: "malformed_reply" });
          if (open && party === "agent") open.usage = addUsage(open.usage, reply.usage);
          if (this.#content && span.isRecording())
            span.setAttributes({ ...requestContent(request), ...replyContent(reply) });
          return reply;
        } catch (error) {
          if (this.#content && span.isRecording()) span.setAttributes(requestContent(request));
          this.#fail(span, signal.aborted ? "cancelled" : typeOf(error), messageOf(error));
          throw error;
        } finally {
          finish(span, party, open);
        }
      },
    };
  }

  async watchCall(key: RolloutKey, call: ToolCall, send: () => Promise<ToolResult>): Promise<ToolResult> {
    const open = this.#open.get(keyText(key));
    const attributes = callAttributes(call);
    const span = this.#start(`execute_tool ${attributes["gen_ai.tool.name"]}`, SpanKind.INTERNAL, attributes, open);
    open?.calls.set(call.id, span);
    const hasContent = this.#content && span.isRecording();
    if (hasContent) span.setAttributes(callContent(call));
    try {
      const result = await send();
      if (hasContent) span.setAttributes(resultContent(result));
      if (result.isError) this.#fail(span, result.fault ?? "tool_error");
      return result;
    } catch (error) {
      this.#fail(span, typeOf(error), messageOf(error));
      throw error;
    } finally {
      finish(span, call.id, open);
    }
  }

  /** What is still open was parked: it continues in another span, with the same conversation id. */
  endAll(): void {
    for (const open of this.#open.values()) {
      open.span.setAttribute("rollout.parked", true);
      this.#close(open);
    }
    this.#open.clear();
  }

  #begin(event: RolloutStart): void {
    const { dataset, queryId, rollout, attempt, continued } = event;
    const key = keyText(event);
    const before = this.#open.get(key);
    if (before) {
      before.span.setAttribute("rollout.started_over", true);
      this.#close(before);
    }
    const conversation = redactSaid(`${this.#runId}/${dataset}/${rolloutId(event)}`);
    const attributes = clean({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": dataset,
      ...this.#agents.get(dataset),
      "rollout.run": this.#run,
      "rollout.dataset": dataset,
      "rollout.query_id": queryId,
      "rollout.number": rollout,
      "rollout.attempt": attempt,
      "rollout.continued_entries": continued || undefined,
    });
    const span = this.#start(`invoke_agent ${attributes["gen_ai.agent.name"]}`, SpanKind.INTERNAL, attributes, {
      conversation,
    });
    const context = trace.setSpan(ROOT_CONTEXT, span);
    this.#open.set(key, { span, context, conversation, calls: new Map(), usage: NO_USAGE });
  }

  #end(event: RolloutEnd): void {
    const key = keyText(event);
    const open = this.#open.get(key);
    if (!open) return;
    const { outcome } = event;
    open.span.setAttributes(endAttributes(event));
    if (!outcome.success) this.#fail(open.span, outcome.kind ?? outcome.stopReason, outcome.message);
    this.#close(open);
    this.#open.delete(key);
  }

  #start(name: string, kind: SpanKind, attributes: Attributes, open?: Partial<OpenRollout>): Span {
    const all = { ...attributes, "gen_ai.conversation.id": open?.conversation };
    return this.#tracer.startSpan(name, { kind, attributes: all }, open?.context ?? ROOT_CONTEXT);
  }

  #close({ span, calls, usage }: OpenRollout): void {
    for (const call of calls.values()) {
      this.#fail(call, "cancelled");
      call.end();
    }
    span.setAttributes(usageAttributes(usage));
    span.end();
  }

  /** What a server or a tool says may repeat what it was sent: that is content. */
  #fail(span: Span, type: string, message?: string): void {
    const told = this.#content && message ? `: ${cutText(redactText(message), 500)}` : "";
    span.setAttribute("error.type", type);
    span.setStatus({ code: SpanStatusCode.ERROR, message: `${type}${told}` });
  }
}

/** Unless its rollout has ended before it. */
function finish(span: Span, name: string, open: OpenRollout | undefined): void {
  if (open?.calls.get(name) === span) open.calls.delete(name);
  if (span.isRecording()) span.end();
}

/** A status or the class of the failure: never a sentence. */
function typeOf(error: unknown): string {
  if (!(error instanceof RolloutError)) return error instanceof Error ? error.name : "_OTHER";
  const { status } = error as { status?: number };
  return status === undefined ? error.kind : String(status);
}
