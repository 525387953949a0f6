// A key or a setting that is refused, a model or path that is not there, a wrong address: if a model's first calls show one of these,
// every other call would too. The run is then stopped instead of failing rollout by rollout.
import { type ModelClient, UsageError } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";

/** Nothing has been played with a model, and nothing can be. */
export class SetupError extends UsageError {
  override name = "SetupError";
}

type Watched = { model: ResolvedModel; baseUrl: string; settings?: CallSettings };

export class StartCheck {
  /** addresses that answered, and models that replied */
  readonly #proven = new Set<string>();
  readonly #wrong = new Set<string>();

  /** For one of a model's servers. Inside of retries, so that a wrong address is not tried again. */
  watch(client: ModelClient, { model, baseUrl, settings }: Watched): ModelClient {
    const modelAt = (url: string) => `${url} ${model.keyName ?? ""} ${model.id}`;
    const sent = JSON.stringify(settings ?? {});
    const settingsAt = (url: string) => `${modelAt(url)} ${sent}`;
    return {
      id: client.id,
      complete: async (request, signal) => {
        try {
          const reply = await client.complete(request, signal);
          this.#proven.add(baseUrl).add(modelAt(baseUrl)).add(settingsAt(baseUrl));
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
      },
    };
  }
}

function explain(id: string, { message, status }: ModelFailure): string {
  const advice = status === undefined ? "\nCheck api_base, and that the server is running." : "";
  return `${id} cannot be used: ${message}${advice}`;
}
