import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../core/index.ts";
import type { Registry } from "../../models/index.ts";
import { configureModels } from "./models.ts";

const KEY = "sk-0123456789";

async function run(words: string[], more: { env?: { [name: string]: string }; registry?: Registry } = {}) {
  const lines: string[] = [];
  const program = new Command("rollout").exitOverride();
  configureModels(program.command("models"), {
    print: (line) => lines.push(line),
    env: more.env ?? {},
    loadRegistry: () => more.registry ?? {},
  });
  await program.parseAsync(["models", ...words], { from: "user" });
  return lines;
}

describe("list", () => {
  test("every provider gets one line with its key variable by name, and whether it is set", async () => {
    const lines = await run(["list"], { env: { DEEPSEEK_API_KEY: KEY } });
    expect(lines.length).toBeGreaterThan(200);
    expect(lines.find((line) => line.startsWith("deepseek "))).toMatch(
      /^deepseek +DeepSeek +openai +\d+ +DEEPSEEK_API_KEY \(set\) +https:\/\/api\.deepseek\.com\/v1$/,
    );
    expect(lines.find((line) => line.startsWith("openai "))).toContain("OPENAI_API_KEY (not set)");
    expect(lines.find((line) => line.startsWith("vllm "))).toContain("no key needed");
    expect(lines.join("\n")).not.toContain(KEY);
  });

  test("one provider's models get one aligned line each, with prices per million tokens", async () => {
    const lines = await run(["list", "--provider", "deepseek"]);
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^deepseek\/deepseek-v4-pro +\$1\.32 in, \$3\.96 out, \$0\.044 cached +1M +thinking +DEEPSEEK_API_KEY \(not set\)$/,
      ),
    );
    expect(lines[0]).toMatch(/^model +dollars per million tokens +context +thinking +key$/);
    expect(new Set(lines.slice(1).map((line) => line.indexOf("$"))).size).toBe(1);
  });

  test("the user's own models come first, and one that cannot be used says why", async () => {
    const registry: Registry = {
      mine: { provider: "vllm", api_base: "http://host/v1", api_key: KEY },
      embedder: { provider: "openai", mode: "embedding" },
    };
    const lines = await run(["list"], { registry });
    expect(lines[1]).toMatch(/^vllm\/mine +price unknown +unknown +template +<literal> \(set\)$/);
    expect(lines[2]).toContain('"embedding"');
    expect(lines[3]).toBe("");
    expect(lines.join("\n")).not.toContain(KEY);
  });

  test("--json gives one object a line", async () => {
    const models = (await run(["list", "--provider", "deepseek", "--json"])).map((line) => JSON.parse(line));
    expect(models).toContainEqual({
      model: "deepseek/deepseek-v4-pro",
      dollarsPerMillion: { input: 1.32, output: 3.96, cachedInput: 0.044 },
      contextLength: 1000000,
      reasoning: "thinking",
      keyName: "DEEPSEEK_API_KEY",
      keySet: false,
    });
    const providers = (await run(["list", "--json"])).map((line) => JSON.parse(line));
    expect(providers).toContainEqual(expect.objectContaining({ provider: "openai", url: "https://api.openai.com/v1" }));
  });

  test("a provider without listed models says how to name one, an unknown provider is refused with the nearest", async () => {
    expect(await run(["list", "--provider", "vllm"])).toEqual([expect.stringContaining("vllm/<model>")]);
    await expect(run(["list", "--provider", "opnai"])).rejects.toThrow(
      new UsageError('unknown provider "opnai"; did you mean "openai"?'),
    );
  });
});

describe("show", () => {
  test("a name is shown with all that it resolves to, but no key and no password", async () => {
    const registry: Registry = {
      mine: {
        provider: "openai",
        api_base: ["http://me:hidden-word@one/v1", "http://two/v1"],
        api_key: `\${MY_KEY}`,
        model: "served-name",
        max_tokens: 32768,
      },
    };
    expect(await run(["show", "openai/mine"], { registry, env: { MY_KEY: KEY } })).toEqual([
      "name            openai/mine",
      "wire name       served-name",
      "dialect         openai",
      "base URL        http://one/v1",
      "base URL        http://two/v1",
      "key             MY_KEY (set)",
      "price           price unknown",
      "context         33k",
      "longest output  unknown",
      "reasoning       none, not sent back",
    ]);
    const json = await run(["show", "openai/mine", "--json"], { registry, env: { MY_KEY: KEY } });
    expect(json.map((line) => JSON.parse(line))).toMatchObject([{ model: "openai/mine", wireName: "served-name" }]);
    expect(json.join("\n")).not.toMatch(/sk-0123456789|hidden-word/);
  });

  test("a model that its provider is not known to serve is shown with the nearest that it does", async () => {
    const lines = await run(["show", "deepseek/deepseek-v4-por"]);
    expect(lines.at(-1)).toBe("Not in the catalogue, used as it is; near: deepseek/deepseek-v4-pro.");
  });

  test("scripted models are shown too, and an unknown name is a usage error", async () => {
    expect(await run(["show", "scripted/agent?skill=0.7"])).toContain("key             no key needed");
    await expect(run(["show", "nobody-knows/this"])).rejects.toThrow(UsageError);
  });
});

describe("search", () => {
  test("models are found by all words, in any case, over names and providers", async () => {
    const lines = await run(["search", "OpenRouter", "deepseek-chat"]);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines.slice(1)) expect(line).toMatch(/^\S*deepseek-chat\S* /);
    expect(lines).toContainEqual(
      expect.stringMatching(/^openrouter\/deepseek\/deepseek-chat-v3\.1 .* effort +OPENROUTER_API_KEY/),
    );
  });

  test("a search prints a header and at most a screen, and says how many there are; --all and --json print all", async () => {
    const short = await run(["search", "gpt-5"]);
    expect(short).toHaveLength(30);
    expect(short[0]).toMatch(/^model +dollars per million tokens +context +thinking +key$/);
    expect(short[1]).toMatch(/^openai\/gpt-5 +\$/);
    const total = Number(/^28 of (\d+); --all shows them all\.$/.exec(short.at(-1) ?? "")?.[1]);
    expect(total).toBeGreaterThan(28);
    expect(await run(["search", "gpt-5", "--all"])).toHaveLength(total + 1);
    expect(await run(["search", "gpt-5", "--json"])).toHaveLength(total);
  });

  test("no match says so, with the nearest", async () => {
    expect(await run(["search", "deepseek-v4-por"])).toEqual([
      'No model matches "deepseek-v4-por"; near: deepseek/deepseek-v4-pro.',
    ]);
    expect(await run(["search", "zzzzzzzzqqqqqqqq", "--json"])).toEqual([]);
  });
});
