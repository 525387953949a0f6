import { describe, expect, test } from "vitest";
import { UnsetVariableError, UsageError } from "../core/index.ts";
import { listProviders } from "./catalogue/catalogue.ts";
import type { Registry } from "./registry.ts";
import { type ResolveContext, resolveModel } from "./resolve.ts";

const KEY = "sk-0123456789";

function resolve(name: string, context: Partial<ResolveContext> = {}) {
  return resolveModel(name, { env: {}, ...context });
}

describe("names", () => {
  test("a catalogue name gives address, key, prices, context and habits", () => {
    expect(resolve("deepseek/deepseek-v4-pro", { env: { DEEPSEEK_API_KEY: KEY } })).toEqual({
      id: "deepseek/deepseek-v4-pro",
      provider: "deepseek",
      model: "deepseek-v4-pro",
      dialect: "openai",
      baseUrls: ["https://api.deepseek.com/v1"],
      apiKey: KEY,
      keyName: "DEEPSEEK_API_KEY",
      prices: { input: 1.32 / 1e6, output: 3.96 / 1e6, cachedInput: 0.044 / 1e6 },
      contextLength: 1000000,
      reasoning: { style: "thinking", sendBack: "all", field: "reasoning_content" },
      limits: {},
      headers: {},
      body: {},
    });
  });

  test("the model's part may hold slashes", () => {
    const model = resolve("openrouter/deepseek/deepseek-chat", { env: { OPENROUTER_API_KEY: KEY } });
    expect(model).toMatchObject({ id: "openrouter/deepseek/deepseek-chat", model: "deepseek/deepseek-chat" });
    expect(model.prices?.output).toBeGreaterThan(0);
  });

  test("an alias resolves to the provider's own name", () => {
    expect(resolve("gemini/gemini-x", { env: { GEMINI_API_KEY: KEY } })).toMatchObject({
      id: "google/gemini-x",
      dialect: "google",
      keyName: "GEMINI_API_KEY",
    });
  });

  test("a model that the catalogue does not list goes to its provider as it is, without prices", () => {
    const model = resolve("openai/not-listed-yet", { env: { OPENAI_API_KEY: KEY } });
    expect(model).toMatchObject({ model: "not-listed-yet", baseUrls: ["https://api.openai.com/v1"], apiKey: KEY });
    expect(model.prices).toBeUndefined();
    expect(model.unlisted).toBe(true);
  });

  test("no model is called unlisted that is registered, has an address of its own, or whose provider lists none", () => {
    const registry = { "not-listed-yet": { provider: "deepseek", api_key: KEY } };
    expect(resolve("not-listed-yet", { registry }).unlisted).toBeUndefined();
    const overrides = { apiBase: "http://localhost:9/v1" };
    expect(resolve("openai/not-listed-yet", { overrides }).unlisted).toBeUndefined();
    expect(resolve("vllm/not-listed-yet").unlisted).toBeUndefined();
  });

  test("scripted names need nothing and keep their knobs", () => {
    const model = resolve("scripted/agent?skill=0.7", { registry: { "scripted/agent": { provider: "openai" } } });
    expect(model).toMatchObject({ id: "scripted/agent?skill=0.7", model: "agent?skill=0.7", dialect: "scripted" });
    expect(model.baseUrls).toEqual([]);
    const named = resolve("rehearsal", { registry: { rehearsal: { provider: "scripted", model: "agent?skill=0.5" } } });
    expect(named).toMatchObject({ id: "scripted/agent?skill=0.5", dialect: "scripted" });
  });

  test("an unknown provider is a usage error with the nearest name", () => {
    expect(() => resolve("opnai/gpt-4o")).toThrow(UsageError);
    expect(() => resolve("opnai/gpt-4o")).toThrow('unknown provider "opnai"; did you mean "openai/gpt-4o"?');
  });

  test("a bare name is looked for in the registry only, and its nearest are suggested", () => {
    const registry: Registry = { "my-model": { provider: "vllm" } };
    expect(resolve("my-model", { registry }).id).toBe("vllm/my-model");
    expect(() => resolve("my-modle", { registry })).toThrow('did you mean "my-model"');
    expect(() => resolve("gpt-4o")).toThrow('did you mean "openai/gpt-4o"');
    for (const name of ["", "/", "openai/", "/gpt-4o"]) expect(() => resolve(name), name).toThrow(UsageError);
  });

  test("every provider of the catalogue resolves with its address and key variable", () => {
    const providers = listProviders();
    for (const provider of providers) {
      const names = [...provider.keys, ...(provider.url.match(/(?<=\$\{)\w+/g) ?? [])];
      const env = Object.fromEntries(names.map((name) => [name, name.endsWith("URL") ? "https://host" : "value"]));
      const model = resolve(`${provider.id}/some-model`, { env });
      expect(URL.canParse(model.baseUrls[0] ?? ""), provider.id).toBe(true);
      expect(model.keyName, provider.id).toBe(provider.keys[0]);
    }
    expect(providers.filter(({ keys }) => keys.length > 0).length).toBeGreaterThan(100);
  });
});

describe("the registry", () => {
  test("an entry's own facts stand above the catalogue's", () => {
    const registry: Registry = {
      "deepseek-v3.2-fc": {
        provider: "openai",
        api_base: ["http://one:8000/v1/", "http://two:8000/v1"],
        api_key: `\${MY_KEY}`,
        mode: "chat",
        model: "served-name",
        max_tokens: 65536,
        input_cost_per_token: 2e-7,
        output_cost_per_token: 4e-7,
        extra_params: { top_k: 20, seed: 1 },
        extra_body: { top_k: 40 },
        headers: { "X-Team": `\${TEAM:-blue}` },
        limits: { max_in_flight: 8, requests_per_minute: 60 },
        reasoning: { style: "template" },
      },
    };
    expect(resolve("openai/deepseek-v3.2-fc", { registry, env: { MY_KEY: KEY } })).toEqual({
      id: "openai/deepseek-v3.2-fc",
      provider: "openai",
      model: "served-name",
      dialect: "openai",
      baseUrls: ["http://one:8000/v1", "http://two:8000/v1"],
      apiKey: KEY,
      keyName: "MY_KEY",
      prices: { input: 2e-7, output: 4e-7 },
      contextLength: 65536,
      reasoning: { style: "template", sendBack: false, field: "reasoning_content" },
      limits: { maxInFlight: 8, requestsPerMinute: 60 },
      headers: { "X-Team": "blue" },
      body: { top_k: 40, seed: 1 },
      extraBody: ["top_k"],
    });
  });

  test("a custom address has none of the provider's prices; without one they apply", () => {
    const env = { OPENAI_API_KEY: KEY };
    const proxied = resolve("openai/gpt-4o", { env, registry: { "gpt-4o": { api_base: "http://proxy/v1" } } });
    expect(proxied.prices).toBeUndefined();
    expect(proxied.contextLength).toBeGreaterThan(100000);
    const direct = resolve("gpt-4o", { env, registry: { "gpt-4o": { provider: "openai", output_cost_per_token: 1 } } });
    expect(direct.prices).toMatchObject({ input: 2.5e-6, output: 1 });
  });

  test("any provider's name will do next to an api_base, none without one", () => {
    const registry: Registry = {
      mine: { provider: "our-cluster", api_base: "http://cluster/v1" },
      lost: { provider: "our-cluster" },
    };
    expect(resolve("our-cluster/mine", { registry })).toMatchObject({ id: "our-cluster/mine", dialect: "openai" });
    expect(() => resolve("lost", { registry })).toThrow('unknown provider "our-cluster"');
  });

  test("a mode other than chat is refused", () => {
    const registry: Registry = { embedder: { provider: "openai", mode: "embedding" } };
    expect(() => resolve("embedder", { registry })).toThrow('mode "embedding"');
  });

  test("an address that is no web address is refused", () => {
    for (const api_base of ["localhost:8000", "ftp://host/v1", "not a url"])
      expect(() => resolve("mine", { registry: { mine: { provider: "vllm", api_base } } }), api_base).toThrow(
        "api_base",
      );
  });
});

describe("keys", () => {
  test("a provider's own variable is used, and its absence is a usage error that names it", () => {
    expect(() => resolve("deepseek/deepseek-chat")).toThrow(UsageError);
    expect(() => resolve("deepseek/deepseek-chat")).toThrow("set DEEPSEEK_API_KEY");
    expect(() => resolve("deepseek/deepseek-chat", { env: { DEEPSEEK_API_KEY: "" } })).toThrow("DEEPSEEK_API_KEY");
  });

  test("a provider's own variable never goes to a custom address, which needs no key", () => {
    const env = { OPENAI_API_KEY: KEY };
    const written = resolve("openai/mine", {
      env,
      registry: { mine: { provider: "openai", api_base: "http://x/v1" } },
    });
    const overridden = resolve("openai/gpt-4o", { env, overrides: { apiBase: "http://x/v1" } });
    for (const model of [written, overridden]) {
      expect(model.baseUrls).toEqual(["http://x/v1"]);
      expect(model).not.toHaveProperty("apiKey");
      expect(model).not.toHaveProperty("keyName");
    }
  });

  test("a literal key is shown as <literal>, a reference by its name, an empty one not at all", () => {
    const keyOf = (api_key: string | null, env = {}) => {
      const { apiKey, keyName } = resolve("mine", { env, registry: { mine: { provider: "vllm", api_key } } });
      return [apiKey, keyName];
    };
    expect(keyOf(KEY)).toEqual([KEY, "<literal>"]);
    expect(keyOf(`\${MINE}`, { MINE: KEY })).toEqual([KEY, "MINE"]);
    expect(keyOf(`\${MINE:-EMPTY}`)).toEqual(["EMPTY", "MINE"]);
    expect(keyOf("")).toEqual([undefined, undefined]);
    expect(keyOf(null)).toEqual([undefined, undefined]);
  });

  test("a missing variable is named with the model and the place", () => {
    const registry: Registry = { mine: { provider: "vllm", api_key: `\${MINE}` } };
    expect(() => resolve("mine", { registry })).toThrow(
      new UnsetVariableError('model "mine", api_key: the environment variable MINE is not set', "MINE"),
    );
    expect(() => resolve("cloudflare-workers-ai/x", { env: { CLOUDFLARE_API_KEY: KEY } })).toThrow(
      "CLOUDFLARE_ACCOUNT_ID is not set",
    );
  });

  test("what a dataset or the command line gives stands above the registry", () => {
    const registry: Registry = { mine: { provider: "vllm", api_base: "http://a/v1", api_key: "old-key" } };
    const overrides = { apiBase: "http://b/v1", apiKey: `\${MINE}` };
    expect(resolve("mine", { registry, overrides, env: { MINE: KEY } })).toMatchObject({
      baseUrls: ["http://b/v1"],
      apiKey: KEY,
      keyName: "MINE",
    });
  });

  test("for looking only, missing variables are no error and are named", () => {
    const model = resolve("deepseek/deepseek-chat", { allowMissingKeys: true });
    expect(model).toMatchObject({ keyName: "DEEPSEEK_API_KEY" });
    expect(model.apiKey).toBeUndefined();
    const registry: Registry = { mine: { api_base: `\${HOST}/v1`, api_key: `\${MINE}` } };
    const own = resolve("mine", { registry, allowMissingKeys: true });
    expect(own).toMatchObject({ keyName: "MINE", baseUrls: [`\${HOST}/v1`] });
    expect(own.apiKey).toBeUndefined();
  });

  test("Bedrock and local gateways work without a key of ours", () => {
    expect(resolve("bedrock/some-model", { env: { AWS_REGION: "eu-west-1" } })).toMatchObject({
      dialect: "bedrock",
      baseUrls: ["https://bedrock-runtime.eu-west-1.amazonaws.com"],
    });
    expect(resolve("litellm/any").apiKey).toBeUndefined();
  });
});
