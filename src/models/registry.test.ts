import { describe, expect, test } from "vitest";
import { z } from "zod";
import { UsageError } from "../core/index.ts";
import { findEntry, registryEntrySchema, registryFileSchema } from "./registry.ts";

describe("the schema", () => {
  test("an entry as users have it is accepted, with every key", () => {
    const entry = {
      provider: "openai",
      api_base: ["http://one/v1", "http://two/v1"],
      api_key: `\${KEY:-EMPTY}`,
      mode: "chat",
      model: "wire-name",
      dialect: "openai",
      max_tokens: 131072,
      input_cost_per_token: 0.0000002,
      output_cost_per_token: 4e-7,
      cached_input_cost_per_token: 0,
      extra_params: { top_k: 20, nested: { list: [1, null, "x"] } },
      extra_body: { chat_template_kwargs: { enable_thinking: true } },
      headers: { "X-Team": "blue" },
      limits: { max_in_flight: 64, requests_per_minute: 600, tokens_per_minute: 1000000 },
      reasoning: { style: "thinking", send_back: true, field: "reasoning" },
    };
    expect(registryFileSchema.parse({ models: { mine: entry } })).toEqual({ models: { mine: entry } });
    expect(registryEntrySchema.parse({ api_key: null })).toEqual({ api_key: null });
  });

  test("a key that nobody knows is an error at its place, at every depth", () => {
    const pathsOf = (entry: object) => {
      const { error } = registryFileSchema.safeParse({ models: { mine: entry } });
      return error?.issues.map((issue) => [issue.code, ...issue.path]);
    };
    expect(pathsOf({ api_bas: "http://x" })).toEqual([["unrecognized_keys", "models", "mine"]]);
    expect(pathsOf({ limits: { rpm: 3 } })).toEqual([["unrecognized_keys", "models", "mine", "limits"]]);
    expect(pathsOf({ reasoning: { style: "loud" } })).toEqual([
      ["invalid_value", "models", "mine", "reasoning", "style"],
    ]);
    expect(pathsOf({ max_tokens: "many" })).toEqual([["invalid_type", "models", "mine", "max_tokens"]]);
    expect(pathsOf({ api_base: [] })?.[0]?.slice(1)).toEqual(["models", "mine", "api_base"]);
  });

  test("it can be given to editors as JSON Schema", () => {
    expect(z.toJSONSchema(registryFileSchema)).toMatchObject({ additionalProperties: false });
  });
});

describe("finding an entry", () => {
  const registry = {
    "deepseek-v3.2-fc": { provider: "openai", api_base: "http://a/v1" },
    "openai/prefixed": { provider: "openai", api_base: "http://b/v1" },
    "Qwen/Qwen3-32B": { provider: "hosted_vllm" },
    "no-provider": { api_base: "http://c/v1" },
    "deepseek/by-key": {},
  };
  const find = (name: string) => {
    const found = findEntry(name, registry);
    return found && `${found.provider} ${found.model}`;
  };

  test("the provider's prefix may stand on either side, on both or on none", () => {
    expect(find("deepseek-v3.2-fc")).toBe("openai deepseek-v3.2-fc");
    expect(find("openai/deepseek-v3.2-fc")).toBe("openai deepseek-v3.2-fc");
    expect(find("openai/prefixed")).toBe("openai prefixed");
    expect(find("prefixed")).toBe("openai prefixed");
  });

  test("a key may hold slashes of its own, and an alias is as good as the provider's name", () => {
    expect(find("Qwen/Qwen3-32B")).toBe("hosted_vllm Qwen/Qwen3-32B");
    expect(find("vllm/Qwen/Qwen3-32B")).toBe("hosted_vllm Qwen/Qwen3-32B");
  });

  test("without a provider the key's prefix counts, else OpenAI's wire is meant", () => {
    expect(find("no-provider")).toBe("openai no-provider");
    expect(find("openai/no-provider")).toBe("openai no-provider");
    expect(find("by-key")).toBe("deepseek by-key");
  });

  test("the provider must agree, unless the catalogue lists the name: the registry wins over it", () => {
    expect(() => find("anthropic/deepseek-v3.2-fc")).toThrow(UsageError);
    expect(() => find("anthropic/deepseek-v3.2-fc")).toThrow('"openai/deepseek-v3.2-fc", but not at "anthropic"');
    const own = {
      "gpt-4o": { provider: "azure" },
      "deepseek-chat": { provider: "openai", api_base: "http://mine/v1" },
    };
    expect(findEntry("openai/gpt-4o", own)?.provider).toBe("azure");
    expect(findEntry("deepseek/deepseek-chat", own)?.entry.api_base).toBe("http://mine/v1");
    expect(() => findEntry("openai/gpt-4o", { ...own, "vllm/gpt-4o": {} })).toThrow("may be any of");
  });

  test("a name that may be two entries is refused with both", () => {
    const twins = { "openai/twin": {}, "deepseek/twin": {} };
    expect(() => findEntry("twin", twins)).toThrow('"openai/twin" and "deepseek/twin"');
    expect(findEntry("deepseek/twin", twins)?.provider).toBe("deepseek");
  });

  test("other names, scripted ones and names of object members find nothing", () => {
    expect(find("openai/other")).toBeUndefined();
    expect(find("constructor")).toBeUndefined();
    expect(findEntry("scripted/agent", { "scripted/agent": { provider: "openai" } })).toBeUndefined();
  });
});
