import { expect, onTestFinished, test } from "vitest";
import { completion, failing, modelAt, requestOf, serveModel } from "../../test/support/model-server.ts";
import { networkRun, play } from "../../test/support/network-run.ts";
import { createRandom, type JsonObject, systemClock } from "../core/index.ts";
import { createModels } from "./connect.ts";
import { adviseOn } from "./refused-settings.ts";
import type { CallSettings } from "./resolved.ts";

const settings: CallSettings = {
  temperature: 0.2,
  topP: 0.9,
  maxTokens: 100,
  sendSeed: true,
  thinkingOptions: { type: "enabled", budget_tokens: 4000 },
  extraParams: { min_p: 0.1, stop: ["x"], chat_template_kwargs: { tidy: true } },
};
const model = modelAt("http://x", { body: { repetition_penalty: 1.1, user: "me" }, extraBody: ["repetition_penalty"] });
const openai = (message: string, param: string | null = null) => ({
  error: { message, type: "invalid_request_error", param },
});
const anthropic = (message: string) => ({ type: "error", error: { type: "invalid_request_error", message } });
const google = (message: string, more: JsonObject = {}) => ({
  error: { code: 400, status: "INVALID_ARGUMENT", message, ...more },
});
const pydantic = (...loc: (string | number)[]) => ({
  type: "extra_forbidden",
  loc,
  msg: "Extra inputs are not permitted",
  input: 1,
});

/** Bodies as servers have sent them. */
test.each<[string, JsonObject | string, string[]]>([
  [
    "openai, value",
    openai(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      "temperature",
    ),
    ["agent.temperature: 0.2"],
  ],
  [
    "openai, parameter",
    openai("Unsupported parameter: 'top_p' is not supported with this model.", "top_p"),
    ["agent.top_p: 0.9"],
  ],
  ["openai, argument", openai("Unrecognized request argument supplied: min_p"), ["agent.extra_params.min_p: 0.1"]],
  [
    "openai, unknown",
    openai("Unknown parameter: 'user'.", "user"),
    ["extra_params.user: me (under the model in the registry)"],
  ],
  [
    "openai, longer name",
    openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
    ),
    ["agent.max_tokens: 100", "agent.extra_params: {max_completion_tokens: 100}"],
  ],
  [
    "anthropic, both",
    anthropic("`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
    ["agent.temperature: 0.2 and agent.top_p: 0.9", "one of them"],
  ],
  ["anthropic, deprecated", anthropic("`temperature` is deprecated for this model."), ["agent.temperature: 0.2"]],
  ["anthropic, extra", anthropic("stop: Extra inputs are not permitted"), ['agent.extra_params.stop: ["x"]']],
  [
    "anthropic, thinking",
    anthropic("`thinking.type: enabled` is not supported by this model; budget_tokens cannot be set"),
    ["agent.thinking"],
  ],
  [
    "google, unknown name",
    google("Invalid JSON payload received. Unknown name \"minP\" at 'generation_config': Cannot find field."),
    ["agent.extra_params.min_p: 0.1"],
  ],
  [
    "google, camel case",
    google("* GenerateContentRequest.generation_config.top_p: must be in [0, 1]"),
    ["agent.top_p: 0.9"],
  ],
  [
    "google, violations",
    google("Request contains an invalid argument.", {
      details: [{ fieldViolations: [{ field: "generationConfig.maxOutputTokens" }] }],
    }),
    ["agent.max_tokens: 100"],
  ],
  [
    "bedrock, key",
    {
      message:
        "Malformed input request: #: extraneous key [min_p] is not permitted, please reformat your input and try again.",
    },
    ["agent.extra_params.min_p"],
  ],
  [
    "bedrock, range",
    { message: "The model returned the following errors: temperature: range: 0..1" },
    ["agent.temperature"],
  ],
  [
    "mistral",
    { object: "error", message: { detail: [pydantic("body", "random_seed")] }, type: "invalid_request_error" },
    ["agent.send_seed: true"],
  ],
  ["mistral, list", { object: "Error", detail: [pydantic("body", "min_p")], code: 3001 }, ["agent.extra_params.min_p"]],
  [
    "cohere",
    { id: "1", message: "unknown field: parameter 'min_p' is not a valid field" },
    ["agent.extra_params.min_p"],
  ],
  [
    "vllm, python",
    {
      object: "error",
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'repetition_penalty'), 'msg': 'Extra inputs are not permitted', 'input': 1.1}]",
      code: 400,
    },
    ["extra_body.repetition_penalty: 1.1 (under the model in the registry)"],
  ],
  [
    "vllm, validation",
    {
      error: {
        message:
          "1 validation error for ChatCompletionRequest\nstop\n  Extra inputs are not permitted [type=extra_forbidden, input_value=['x'], input_type=list]",
        code: 400,
      },
    },
    ["agent.extra_params.stop"],
  ],
  [
    "vllm, value",
    { error: { message: "top_p must be in (0, 1], got 1.5.", type: "BadRequestError", param: "top_p", code: 400 } },
    ["agent.top_p"],
  ],
  [
    "nim",
    {
      title: "Unprocessable Entity",
      status: 422,
      detail: "body -> min_p\n  Extra inputs are not permitted (type=extra_forbidden)",
    },
    ["agent.extra_params.min_p"],
  ],
  [
    "llama.cpp",
    { error: { code: 400, message: "Unsupported param: min_p", type: "invalid_request_error" } },
    ["agent.extra_params.min_p"],
  ],
  [
    "groq",
    { error: { message: "property 'stop' is unsupported", type: "invalid_request_error" } },
    ["agent.extra_params.stop"],
  ],
  [
    "a list of all there is",
    "Failed to deserialize the JSON body: unknown field `min_p`, expected one of `messages`, `temperature`, `top_p`",
    ["agent.extra_params.min_p"],
  ],
  [
    "xai",
    { code: "invalid-argument", error: "Argument not supported on this model: minP" },
    ["agent.extra_params.min_p"],
  ],
  [
    "litellm, nested",
    openai(
      'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: {\\"error\\":{\\"message\\":\\"`temperature` is deprecated for this model.\\"}}"}',
    ),
    ["agent.temperature: 0.2"],
  ],
  [
    "litellm",
    openai(
      "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.2. Only temperature=1 is supported.",
    ),
    ["agent.temperature: 0.2"],
  ],
  [
    "an inner member",
    openai("chat_template_kwargs: unknown key 'tidy'"),
    ["agent.extra_params.chat_template_kwargs.tidy: true"],
  ],
  ["plain text", "Unsupported parameter: min_p", ["agent.extra_params.min_p"]],
  ["no quotes", openai("stop is not supported by this model"), ["agent.extra_params.stop"]],
  ["a list of one", openai("Argument(s) not supported: stop"), ["agent.extra_params.stop"]],
  ["a comparison", openai("seed > 0 is not possible here"), ["agent.send_seed: true"]],
])("%s: the setting is named with its place and value", (_, body, expected) => {
  const advice = adviseOn(typeof body === "string" ? body : JSON.stringify(body), { model, settings }, "agent");
  for (const part of expected) expect(advice).toContain(part);
  const others = [
    "agent.temperature",
    "agent.top_p",
    "agent.extra_params.min_p",
    "agent.extra_params.stop",
    "repetition",
  ];
  for (const other of others) if (!expected.join().includes(other)) expect(advice).not.toContain(other);
});

test.each<[string, JsonObject | string]>([
  ["a message", openai("Invalid value for temperature in the text", "messages.[2].content")],
  ["a message's member", { detail: [pydantic("body", "messages", 0, "temperature")] }],
  ["a tool", openai("Invalid schema for function 'set_temperature': stop", "tools[0].function.parameters")],
  ["nothing of ours", openai("Unknown parameter: 'top_k'.", "top_k")],
  ["an ordinary word", openai("please stop and ask another user")],
  ["nothing", ""],
])("an answer about %s blames no setting", (_, body) => {
  expect(
    adviseOn(typeof body === "string" ? body : JSON.stringify(body), { model, settings }, "agent"),
  ).toBeUndefined();
});

test("a judge has no settings of its own: the registry leaves out what it refuses", () => {
  const sent = { model: modelAt("http://x"), settings: { temperature: 0 } };
  const body = JSON.stringify(anthropic("`temperature` is deprecated for this model."));
  expect(adviseOn(body, sent, "judge")).toContain("refuses: [temperature] under the model in the registry");
});

const refuseTemperature = failing(
  400,
  openai("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature"),
);

test("a run whose setting is refused stops at its first call, with the path that set it", async () => {
  const server = await serveModel(refuseTemperature);
  onTestFinished(() => server.close());
  const stopped = (config: JsonObject) => play(networkRun(server.baseUrl, { config }));
  await expect(stopped({ agent_temperature: 0.2 })).rejects.toThrow(
    /cannot be used: .*\(400\): Unsupported value.*That is agent_temperature: 0\.2 \(in the config, or --agent-temperature\): remove or change it/,
  );
  await expect(stopped({ datasets: { StudentAcademicPortal: { agent: { temperature: 0.2 } } } })).rejects.toThrow(
    "That is agent.temperature: 0.2",
  );
  expect(server.received.length).toBeLessThan(10);
});

test("a setting of one party stops the run although the other party has been answered", async () => {
  const server = await serveModel((response, { body }) => {
    if (body.temperature !== undefined) refuseTemperature(response);
    else response.end(JSON.stringify(completion({ content: "Hi" })));
  });
  const registry = { mine: { provider: "openai", api_base: server.baseUrl } };
  const models = createModels({ env: {}, clock: systemClock, random: createRandom("test", 0), registry });
  onTestFinished(async () => {
    await models.close();
    await server.close();
  });
  const { signal } = new AbortController();
  await models.client("openai/mine", {}).complete(requestOf(), signal);
  const user = models.client("openai/mine", { temperature: 0.2 }, { places: { temperature: "user_temperature" } });
  await expect(user.complete(requestOf(), signal)).rejects.toMatchObject({ name: "SetupError" });
});

test("values that come from variables are shown as they are written", async () => {
  const server = await serveModel(failing(400, openai("Unknown parameter: 'tenant'.", "tenant")));
  const registry = { mine: { provider: "openai", api_base: server.baseUrl, extra_body: { tenant: `\${TENANT}` } } };
  const models = createModels({
    env: { TENANT: "hidden" },
    clock: systemClock,
    random: createRandom("test", 0),
    registry,
  });
  onTestFinished(async () => {
    await models.close();
    await server.close();
  });
  const failure = await models
    .client("openai/mine", {})
    .complete(requestOf(), new AbortController().signal)
    .catch((error) => error);
  expect(server.received[0]?.body.tenant).toBe("hidden");
  expect(failure.message).toContain(`extra_body.tenant: \${TENANT} (under the model in the registry)`);
});

/** Each wire's own way of saying it, through the whole client. */
test.each<[string, JsonObject, CallSettings, string, number?]>([
  [
    "anthropic",
    anthropic("top_k: Extra inputs are not permitted"),
    { extraParams: { top_k: 5 } },
    "agent.extra_params.top_k: 5",
  ],
  [
    "google",
    google("Unable to submit request because it has a temperature value of 3"),
    { temperature: 3 },
    "agent.temperature: 3",
  ],
  [
    "mistral",
    { object: "error", message: { detail: [pydantic("body", "foo")] } },
    { extraParams: { foo: 1 } },
    "agent.extra_params.foo: 1",
    422,
  ],
  [
    "cohere",
    { message: "invalid request: p must be between 0.01 and 0.99; parameter 'top_p' is too large" },
    { topP: 1 },
    "agent.top_p: 1",
  ],
  [
    "azure",
    openai("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature"),
    { temperature: 0.2 },
    "agent.temperature: 0.2",
  ],
  [
    "bedrock",
    { message: "The model returned the following errors: `temperature` is deprecated for this model." },
    { temperature: 0.2 },
    "agent.temperature: 0.2",
  ],
  [
    "responses",
    openai("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
    { temperature: 0.2 },
    "agent.temperature: 0.2",
  ],
  [
    "openai",
    {
      error: {
        code: 400,
        message: "Provider returned error",
        metadata: { raw: JSON.stringify(openai("Unknown parameter: 'foo'.", "foo")) },
      },
    },
    { extraParams: { foo: 1 } },
    "agent.extra_params.foo: 1",
    200,
  ],
])("a refusal on the %s wire names the setting", async (dialect, body, given, expected, status = 400) => {
  const server = await serveModel(failing(status, body, { "content-type": "application/json" }));
  const registry = { mine: { provider: "somebody", dialect, api_base: server.baseUrl, api_key: "k" } };
  const models = createModels({ env: {}, clock: systemClock, random: createRandom("test", 0), registry });
  onTestFinished(async () => {
    await models.close();
    await server.close();
  });
  const { signal } = new AbortController();
  await expect(models.client("somebody/mine", given).complete(requestOf(), signal)).rejects.toThrow(
    `That is ${expected}`,
  );
});
