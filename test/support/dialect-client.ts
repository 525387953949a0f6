// A bare client of a dialect, connected to a server that plays the given answers; both are closed after the test.
import { onTestFinished } from "vitest";
import type { ModelClient, Variables } from "../../src/core/index.ts";
import { findDialect } from "../../src/models/dialects/index.ts";
import { createDispatchers } from "../../src/models/http.ts";
import type { CallSettings, ResolvedModel } from "../../src/models/index.ts";
import { createManualClock, type ModelAnswer, type ModelServer, modelAt, serveModel } from "./model-server.ts";

type Connection = { settings?: CallSettings; model?: Partial<ResolvedModel>; env?: Variables };

export async function connectDialect(
  dialect: string,
  answers: ModelAnswer[],
  { settings = {}, model = {}, env = {} }: Connection = {},
): Promise<ModelServer & { client: ModelClient }> {
  const server = await serveModel(...answers);
  const dispatchers = createDispatchers({});
  onTestFinished(async () => {
    await dispatchers.close();
    await server.close();
  });
  const resolved = modelAt(server.baseUrl, { dialect, ...model });
  const deps = { dispatchers, clock: createManualClock(), env };
  return { ...server, client: findDialect(resolved.dialect).createClient(resolved, settings, deps) };
}
