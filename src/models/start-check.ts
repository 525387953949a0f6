// A key or a setting that is refused, a model or path that is not there, a wrong address, a context that holds no first
// prompt: if a model's first calls show one of these, every other call would too. The run is then stopped instead of
// failing rollout by rollout.
import { type ModelClient, type ModelRequest, UsageError } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { FirstPrompts } from "./first-prompts.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";

/** Nothing has been played with a model, and nothing can be. */
export class SetupError extends UsageError {
  override name = "SetupError";
}

type Watched = { model: ResolvedModel; baseUrl: string; settings?: CallSettings };

export class StartCheck {
  readonly prompts = new FirstPrompts();
  /** addresses that answered, and models that replied */
  readonly #proven = new Set<string>();
  readonly #wrong = new Set<string>();

  /** For one of a model's servers. Inside of retries, so that a wrong address is not tried again. */
  watch(client: ModelClient, { model, baseUrl, settings }: Watched): ModelClient {
    const modelAt = (url: string) => `${url} ${model.keyName ?? ""} ${model.id}`;
    const sent = JSON.stringify(settings ?? {});
    const settingsAt = (url: string) => `${modelAt(url)} ${sent}`;
    const proof = [baseUrl, modelAt(baseUrl), settingsAt(baseUrl)];
    let isProven = false;
    const check: ModelClient["complete"] = async (request, signal) => {
      try {
        const reply = await client.complete(request, signal);
        for (const what of proof) this.#proven.add(what);
        isProven = true;
        return reply;
      } catch (error) {
        if (!(error instanceof ModelFailure) || error.stopReason !== "infrastructure") throw error;
        const answeredAt = error.wrongSetting ? settingsAt : modelAt;
        const suspectAt = error.status === undefined ? (url: string) => url : answeredAt;
        if (this.#proven.has(suspectAt(baseUrl))) throw error;
        if (error.wrongSetup) this.#wrong.add(suspectAt(baseUrl));
        // a server that is down is no reason to stop while a replica of it may work
        const isHopeless = model.baseUrls.every((url) =>
          [url, modelAt(url), settingsAt(url)].some((suspect) => this.#wrong.has(suspect)),
        );
        if (error.wrongSetup && isHopeless) throw new SetupError(explain(model.id, error));
        throw this.#proven.has(baseUrl) ? error : error.restate({ own: false });
      }
    };
    return {
      id: client.id,
      complete: (request, signal) =>
        this.prompts.watch(
          { model: model.id, origin: request.origin },
          () => (isProven ? client.complete(request, signal) : check(request, signal)),
          (error) => new SetupError(explainPrompt(model.id, request, error)),
        ),
    };
  }
}

function explain(id: string, { message, status }: ModelFailure): string {
  const advice = status === undefined ? "\nCheck api_base, and that the server is running." : "";
  return `${id} cannot be used: ${message}${advice}`;
}

function explainPrompt(id: string, { origin, tools }: ModelRequest, { message }: ModelFailure): string {
  const { party, dataset } = origin;
  const parts = tools.length > 0 ? "prompt and tools" : "prompt";
  return `${id} cannot be used as the ${party} of ${dataset}, whose first prompt does not fit: ${message}\nShorten ${parts}, lower max_tokens, or use a model or a server with a longer context.`;
}
