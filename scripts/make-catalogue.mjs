// Refreshes the offline provider catalogue: `node scripts/make-catalogue.mjs [version]`.
// The facts come from the public catalogue inside the npm package @cline/llms, unpacked alone (without its hundreds
// of MB of dependencies) into a temporary folder; providers it lacks are written by hand below. Writes providers.json
// (one provider per line) and models.jsonl (one model per line) into src/models/catalogue/; review the diff, commit.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const VERSION = process.argv[2] ?? "0.0.86";
const root = fileURLToPath(new URL("..", import.meta.url));
const target = join(root, "src", "models", "catalogue");

/** Left out: subscriptions and command-line tools without an API key, wires that no dialect of ours speaks. */
const LEFT_OUT = new Set([
  "asksage",
  "claude-code",
  "dify",
  "elevenlabs",
  "github-copilot", // its key variable, GITHUB_TOKEN, is set on many machines for other purposes
  "oca",
  "openai-codex",
  "openai-codex-cli",
  "openai-compatible", // a form to fill in, not a provider
  "perplexity-agent", // only the Responses wire
  "qwen-code",
  "sapaicore",
  "vertex",
]);

/** Our names, if the source uses others. */
const RENAMED = { "openai-native": "openai", gemini: "google", nousResearch: "nousresearch" };

/** Other names under which people know a provider: each also works as the prefix of a model name. */
const ALIASES = {
  alibaba: ["dashscope"],
  azure: ["azure-openai"],
  bedrock: ["amazon-bedrock"],
  fireworks: ["fireworks-ai", "fireworks_ai"],
  google: ["gemini"],
  llamacpp: ["llama.cpp"],
  lmstudio: ["lm_studio"],
  moonshot: ["moonshotai"],
  "novita-ai": ["novita"],
  nvidia: ["nvidia_nim"],
  openai: ["openai-native"],
  together: ["together_ai", "togetherai"],
  "vercel-ai-gateway": ["vercel", "vercel_ai_gateway"],
  vllm: ["hosted_vllm"],
  zhipuai: ["zhipu"],
};

/** Corrections to the source, and providers that it lacks. */
const BY_HAND = {
  azure: {
    name: "Azure OpenAI",
    url: `https://\${AZURE_RESOURCE_NAME}.openai.azure.com/openai`,
    keys: ["AZURE_API_KEY"],
    dialect: "azure",
  },
  bedrock: {
    url: `https://bedrock-runtime.\${AWS_REGION}.amazonaws.com`,
    keys: ["AWS_BEARER_TOKEN_BEDROCK"],
    keyOptional: true, // AWS credentials work as well
  },
  cohere: { name: "Cohere", url: "https://api.cohere.com/v2", keys: ["COHERE_API_KEY"], dialect: "cohere" },
  deepinfra: { name: "DeepInfra", url: "https://api.deepinfra.com/v1/openai", keys: ["DEEPINFRA_API_KEY"] },
  google: { keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"] },
  kilo: { keys: ["KILO_GATEWAY_API_KEY", "KILO_API_KEY"] },
  llamacpp: { name: "llama.cpp (local)", url: "http://localhost:8080/v1", keys: [] },
  lmstudio: { name: "LM Studio (local)", url: "http://localhost:1234/v1", keys: [] },
  ollama: { name: "Ollama (local)", url: "http://localhost:11434/v1", keys: [] },
  "ollama-cloud": { name: "Ollama Cloud", url: "https://ollama.com/v1", keys: ["OLLAMA_API_KEY"] },
  opencode: { url: "https://opencode.ai/zen/v1" },
  perplexity: { name: "Perplexity", url: "https://api.perplexity.ai", keys: ["PERPLEXITY_API_KEY"] },
  qwen: { keys: ["QWEN_API_KEY", "DASHSCOPE_API_KEY"] },
  sglang: { name: "SGLang (local)", url: "http://localhost:30000/v1", keys: [] },
  vllm: { name: "vLLM (local)", url: "http://localhost:8000/v1", keys: [] },
  zai: { keys: ["ZHIPU_API_KEY", "ZAI_API_KEY"] },
};

/**
 * [provider, model, dollars per million tokens in, out, cached, context, longest output, reasoning]: names still in wide
 * use that the source does not list, at the price last published. The two old DeepSeek names stand for deepseek-v4-flash.
 */
const MODELS_BY_HAND = [
  ["deepseek", "deepseek-chat", 0.14, 0.28, 0.0028, 1000000, 393216, 1],
  ["deepseek", "deepseek-reasoner", 0.14, 0.28, 0.0028, 1000000, 393216, 1],
  ["deepseek", "deepseek-v4-flash", 0.14, 0.28, 0.0028, 1000000, 393216, 1],
];

const DIALECT_OF_CLIENT = { anthropic: "anthropic", gemini: "google", bedrock: "bedrock" };
const DIALECT_OF_PROTOCOL = { anthropic: "anthropic", gemini: "google" };

const source = await loadSource();
const providers = new Map();
const models = new Map();
for (const [id, collection] of Object.entries(source.MODEL_COLLECTIONS_BY_PROVIDER_ID)) {
  if (!LEFT_OUT.has(id)) addCollection(RENAMED[id] ?? id, collection);
}
addModels("ollama-cloud", source.getGeneratedModelsForProvider("ollama"), false);
for (const [id, facts] of Object.entries(BY_HAND)) providers.set(id, { ...providers.get(id), ...facts });
for (const [id, aliases] of Object.entries(ALIASES)) providers.get(id).aliases = aliases;
for (const line of MODELS_BY_HAND) addLine(line);

const providerLines = sorted(providers).map(([id, facts]) => `${JSON.stringify(id)}: ${JSON.stringify(facts)}`);
writeFileSync(join(target, "providers.json"), `{\n${providerLines.join(",\n")}\n}\n`);
const modelLines = sorted(models).map(([, line]) => JSON.stringify(line));
writeFileSync(join(target, "models.jsonl"), `${modelLines.join("\n")}\n`);
const priced = [...models.values()].filter((line) => line[2] !== null).length;
console.log(`${providers.size} providers, ${models.size} models, ${priced} of them with prices`);

async function loadSource() {
  const folder = mkdtempSync(join(tmpdir(), "make-catalogue-"));
  try {
    execFileSync("npm", ["pack", `@cline/llms@${VERSION}`, "--silent"], { cwd: folder, stdio: "pipe" });
    execFileSync("tar", ["-xzf", readdirSync(folder).find((name) => name.endsWith(".tgz"))], { cwd: folder });
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(root, "node_modules", "zod"), join(folder, "node_modules", "zod")); // its only import
    return await import(pathToFileURL(join(folder, "package", "dist", "index.browser.js")).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addCollection(id, { provider, models: listed }) {
  const url = (provider.baseUrl ?? "").replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  const dialect = id === "mistral" ? "mistral" : DIALECT_OF_CLIENT[provider.client];
  providers.set(id, {
    name: provider.name,
    url,
    keys: (provider.env ?? []).filter((name) => /(KEY|TOKEN|PAT)$/.test(name) && !url.includes(`\${${name}}`)),
    ...(dialect && { dialect }),
    ...(/^http:\/\/(localhost|127\.)/.test(url) && { keyOptional: true }),
  });
  const mixed = provider.metadata?.routing?.modelApiProtocol === true || id === "opencode";
  addModels(id, listed, mixed);
}

/** `mixed`: the provider serves some models over another wire than its own, below the same URL. */
function addModels(provider, listed, mixed) {
  for (const model of Object.values(listed)) {
    const protocol = mixed ? model.metadata?.apiProtocol : undefined;
    if (model.operation !== "language" || protocol === "openai-responses") continue;
    const [input, output, cached] = pricesOf(model);
    const reasons = model.capabilities?.includes("reasoning");
    const effort = model.reasoningOptions?.some((option) => option.type === "effort");
    const reasoning = reasons ? (effort ? "effort" : 1) : 0;
    const facts = [input, output, cached, model.contextWindow || null, model.maxTokens || null, reasoning];
    const dialect = DIALECT_OF_PROTOCOL[protocol];
    addLine([provider, model.id, ...facts, ...(dialect ? [dialect] : [])]);
  }
}

/** Zero in the source means "free" only if the name says so, else a flat plan or an unpublished price. */
function pricesOf({ id, pricing }) {
  const { input, output, cacheRead } = pricing ?? {};
  if (!(input >= 0 && output >= 0) || (input + output === 0 && !/free$/.test(id))) return [null, null, null];
  return [input, output, cacheRead > 0 ? cacheRead : null].map((price) => price && Number(price.toPrecision(6)));
}

function addLine(line) {
  models.set(`${line[0]}\0${line[1]}`, line);
}

function sorted(map) {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
