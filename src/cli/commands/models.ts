// `rollout models`: what the user's registry and the offline catalogue know, one line each. Keys are shown by NAME only.
import type { Command } from "commander";
import { readModelsFile } from "../../config/index.ts";
import { didYouMean, hideLogin, UsageError, type Variables } from "../../core/index.ts";
import {
  type CatalogueModel,
  type CatalogueProvider,
  findEntry,
  findModel,
  findProvider,
  habitsOf,
  listModels,
  listProviders,
  type Prices,
  type Registry,
  type ResolvedModel,
  resolveModel,
  searchModels,
  suggestModels,
} from "../../models/index.ts";
import type { Configure } from "../host.ts";
import { createTerminal, printableJson, table } from "../printing/terminal.ts";

export type ModelsCommandDependencies = {
  print(line: string): void;
  env: Variables;
  /** reads the user's models.yml; `file` is what --models-config says */
  loadRegistry?(file: string | undefined): Registry | Promise<Registry>;
};

export const configure: Configure = (command, host) => {
  const terminal = createTerminal(host);
  configureModels(command, {
    print: (line) => terminal.out(line),
    env: host.env,
    loadRegistry: readModelsFile,
  });
};

export function configureModels(models: Command, deps: ModelsCommandDependencies): void {
  models.addHelpText("after", EXAMPLES);
  models
    .command("list")
    .description("each model of your registry and each provider, or each model of one provider")
    .option("--provider <name>", "the models of this provider")
    .option("--models-config <file>", "your models.yml (default: configs/models.yml, where it exists)")
    .option("--json", "one JSON object a line")
    .addHelpText("after", LIST_EXAMPLES)
    .action(async (options: Options) => list(options, deps));
  models
    .command("show <name>")
    .description("all that a model name resolves to")
    .option("--models-config <file>", "your models.yml (default: configs/models.yml, where it exists)")
    .option("--json", "one JSON object")
    .addHelpText("after", SHOW_EXAMPLES)
    .action(async (name: string, options: Options) => show(name, options, deps));
  models
    .command("search <text...>")
    .description("models whose name or provider contains every word, the likeliest first")
    .option("--all", `all of them, not only the first ${MOST_FOUND}`)
    .option("--json", "one JSON object a line, all of them")
    .addHelpText("after", SEARCH_EXAMPLES)
    .action((words: string[], options: Options) => search(words, options, deps));
}

const EXAMPLES = `
Examples:
  rollout models list                              your models, then every provider
  rollout models list --provider deepseek          one provider's models
  rollout models show openrouter/deepseek/deepseek-chat
  rollout models search qwen3 coder

Prices are in dollars per million tokens.`;

const LIST_EXAMPLES = `
Examples:
  rollout models list --models-config configs/models.yml
  rollout models list --provider deepseek`;

const SHOW_EXAMPLES = `
Examples:
  rollout models show openrouter/deepseek/deepseek-chat
  rollout models show deepseek-v3.2-fc --models-config configs/models.yml`;

const SEARCH_EXAMPLES = `
Examples:
  rollout models search qwen3 coder
  rollout models search openrouter kimi --all`;

/** With the header and the line that says so, thirty lines: a screen. */
const MOST_FOUND = 28;

type Options = { all?: boolean; provider?: string; modelsConfig?: string; json?: boolean };

type ModelFacts = {
  model: string;
  prices?: Prices;
  contextLength?: number;
  reasoning: string;
  keyName?: string;
  keySet: boolean;
};

async function list(options: Options, deps: ModelsCommandDependencies): Promise<void> {
  if (options.provider !== undefined) return listOne(options.provider, options, deps);
  const registry = (await deps.loadRegistry?.(options.modelsConfig)) ?? {};
  const own = Object.keys(registry).map((name) => resolveOr(name, registry, deps));
  const usable = own.flatMap((model) => (model instanceof UsageError ? [] : [factsOf(model)]));
  printModels(usable, options, deps);
  if (!options.json) {
    for (const problem of own) if (problem instanceof UsageError) deps.print(problem.message);
    if (own.length > 0) deps.print("");
  }

  const counts = new Map<string, number>();
  for (const { provider } of listModels()) counts.set(provider, (counts.get(provider) ?? 0) + 1);
  const providers = listProviders().map((provider) => {
    const { id, name, dialect, url } = provider;
    return { provider: id, name, dialect, models: counts.get(id) ?? 0, ...keyOf(provider, deps), url };
  });
  const cells = providers.map((facts) => [
    facts.provider,
    facts.name,
    facts.dialect,
    String(facts.models),
    keyText(facts),
    facts.url,
  ]);
  const lines = options.json
    ? providers.map((facts) => printableJson(JSON.stringify(facts)))
    : table([PROVIDERS_HEADER, ...cells], { right: [3] });
  for (const line of lines) deps.print(line);
}

function listOne(name: string, options: Options, deps: ModelsCommandDependencies): void {
  const provider = findProvider(name);
  if (provider === undefined) {
    const names = listProviders().flatMap(({ id, aliases }) => [id, ...aliases]);
    throw new UsageError(`unknown provider "${name}"${didYouMean(name, names)}`);
  }
  const models = listModels(provider.id);
  printModels(
    models.map((model) => catalogueFacts(model, provider, deps)),
    options,
    deps,
  );
  if (models.length === 0 && !options.json)
    deps.print(`${provider.name} is listed without models; whatever it serves works as ${provider.id}/<model>.`);
}

async function show(name: string, options: Options, deps: ModelsCommandDependencies): Promise<void> {
  const registry = (await deps.loadRegistry?.(options.modelsConfig)) ?? {};
  const model = resolve(name, registry, deps);
  const { id: modelId, dialect, reasoning } = model;
  const urls = model.baseUrls.map((url) => hideLogin(url));
  const listed = findModel(model.provider, model.model);
  if (options.json) return deps.print(modelJson(factsOf(model), { wireName: model.model, dialect, urls, reasoning }));
  const lines = [
    ["name", modelId],
    ["wire name", model.model],
    ["dialect", dialect],
    ...urls.map((url) => ["base URL", url]),
    ["key", keyText(factsOf(model))],
    ["price", priceText(model.prices)],
    ["context", countText(model.contextLength)],
    ["longest output", countText(listed?.maxOutput)],
    [
      "reasoning",
      `${reasoning.style}, ${reasoning.sendBack ? `sent back as ${reasoning.field}${reasoning.sendBack === "all" ? " in all later turns" : ""}` : "not sent back"}`,
    ],
  ];
  for (const line of table(lines)) deps.print(line);
  if (listed || dialect === "scripted" || findEntry(name, registry)) return;
  const near = suggestModels(modelId);
  deps.print(`Not in the catalogue, used as it is${near.length > 0 ? `; near: ${near.join(", ")}` : ""}.`);
}

function search(words: string[], options: Options, deps: ModelsCommandDependencies): void {
  const providers = new Map(listProviders().map((provider) => [provider.id, provider]));
  const found = searchModels(words).flatMap((model) => {
    const provider = providers.get(model.provider);
    return provider ? [catalogueFacts(model, provider, deps)] : [];
  });
  const shown = options.all || options.json ? found : found.slice(0, MOST_FOUND);
  printModels(shown, options, deps);
  if (shown.length < found.length) deps.print(`${shown.length} of ${found.length}; --all shows them all.`);
  if (found.length > 0 || options.json) return;
  const near = suggestModels(words.join("-"));
  deps.print(`No model matches "${words.join(" ")}"${near.length > 0 ? `; near: ${near.join(", ")}` : ""}.`);
}

function resolve(name: string, registry: Registry, deps: ModelsCommandDependencies): ResolvedModel {
  return resolveModel(name, { registry, env: deps.env, allowMissingKeys: true });
}

/** An unusable entry (such as an embedding model) does not hide the others. */
function resolveOr(name: string, registry: Registry, deps: ModelsCommandDependencies): ResolvedModel | UsageError {
  try {
    return resolve(name, registry, deps);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

function factsOf(model: ResolvedModel): ModelFacts {
  const { id, prices, contextLength, keyName, apiKey, reasoning } = model;
  return { model: id, prices, contextLength, reasoning: reasoning.style, keyName, keySet: apiKey !== undefined };
}

function catalogueFacts(
  listed: CatalogueModel,
  provider: CatalogueProvider,
  deps: ModelsCommandDependencies,
): ModelFacts {
  const { model, prices, contextLength } = listed;
  const dialect = listed.dialect ?? provider.dialect;
  const reasoning = habitsOf({ provider: provider.id, dialect, model, fact: listed.reasoning }).style;
  return { model: `${provider.id}/${model}`, prices, contextLength, reasoning, ...keyOf(provider, deps) };
}

function keyOf(provider: CatalogueProvider, deps: ModelsCommandDependencies): { keyName?: string; keySet: boolean } {
  const set = provider.keys.find((name) => deps.env[name]);
  return { keyName: set ?? provider.keys[0], keySet: set !== undefined };
}

const MODELS_HEADER = ["model", "dollars per million tokens", "context", "thinking", "key"];
const PROVIDERS_HEADER = ["provider", "name", "dialect", "models", "key", "address"];

function printModels(models: ModelFacts[], options: Options, deps: ModelsCommandDependencies): void {
  const cells = models.map((facts) => [
    facts.model,
    priceText(facts.prices),
    countText(facts.contextLength),
    facts.reasoning,
    keyText(facts),
  ]);
  const lines = options.json ? models.map((facts) => modelJson(facts)) : table([MODELS_HEADER, ...cells]);
  if (models.length > 0) for (const line of lines) deps.print(line);
}

function modelJson({ prices, ...facts }: ModelFacts, more: object = {}): string {
  const dollars = prices && {
    input: perMillion(prices.input),
    output: perMillion(prices.output),
    cachedInput: prices.cachedInput && perMillion(prices.cachedInput),
  };
  return printableJson(JSON.stringify({ ...facts, dollarsPerMillion: dollars, ...more }));
}

function priceText(prices: Prices | undefined): string {
  if (prices === undefined) return "price unknown";
  const cached = prices.cachedInput === undefined ? "" : `, $${perMillion(prices.cachedInput)} cached`;
  return `$${perMillion(prices.input)} in, $${perMillion(prices.output)} out${cached}`;
}

function perMillion(price: number): number {
  return Number((price * 1_000_000).toPrecision(6));
}

function countText(tokens: number | undefined): string {
  if (tokens === undefined) return "unknown";
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${Number((tokens / 1_000_000).toFixed(2))}M`;
}

function keyText({ keyName, keySet }: { keyName?: string; keySet: boolean }): string {
  if (keyName === undefined) return "no key needed";
  return `${keyName} ${keySet ? "(set)" : "(not set)"}`;
}
