// What people decided about the provider catalogue: which providers are left out or renamed, and what to put right in what
// make-catalogue.mjs takes. Addresses that its first two sources lack are those that LiteLLM (MIT) calls, or a local
// server's usual port.

/** Subscriptions and tools without an API key, and wires that no dialect of ours speaks. */
export const LEFT_OUT = new Set([
  "azure-cognitive-services",
  "github-copilot", // its key variable, GITHUB_TOKEN, is set on many machines for other purposes
  "github-models", // the same
  "google-vertex",
  "google-vertex-anthropic",
  "merge-gateway",
  "perplexity-agent", // only the Responses wire
]);

/** Our names, if the sources use others. */
export const RENAMED = {
  "amazon-bedrock": "bedrock",
  "fireworks-ai": "fireworks",
  moonshotai: "moonshot",
  togetherai: "together",
  vercel: "vercel-ai-gateway",
};

/** Other names under which people know a provider: each also works as the prefix of a model name. */
export const ALIASES = {
  alibaba: ["dashscope"],
  "alibaba-cn": ["qwen"],
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
  volcengine: ["doubao"],
  zhipuai: ["zhipu"],
};

export const PROVIDERS_BY_HAND = {
  aihubmix: { url: "https://aihubmix.com/v1" },
  anthropic: { url: "https://api.anthropic.com/v1" },
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
  cerebras: { url: "https://api.cerebras.ai/v1" },
  // the address of cline-pass, where usage is billed
  cline: { name: "Cline", url: "https://api.cline.bot/api/v1", keys: ["CLINE_API_KEY"] },
  cohere: { url: "https://api.cohere.com/v2" },
  deepinfra: { url: "https://api.deepinfra.com/v1/openai" },
  deepseek: { url: "https://api.deepseek.com/v1" },
  google: {
    url: "https://generativelanguage.googleapis.com/v1beta",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  groq: { url: "https://api.groq.com/openai/v1" },
  litellm: { name: "LiteLLM (local)", url: "http://localhost:4000/v1", keys: ["LITELLM_API_KEY"], keyOptional: true },
  llamacpp: { name: "llama.cpp (local)", url: "http://localhost:8080/v1", keys: [] },
  lmstudio: { name: "LM Studio (local)", url: "http://localhost:1234/v1", keys: [] },
  moonshot: { url: "https://api.moonshot.ai/v1", dialect: undefined }, // the source has its address for Anthropic's wire
  "moonshotai-cn": { url: "https://api.moonshot.cn/v1", dialect: undefined },
  ollama: { name: "Ollama (local)", url: "http://localhost:11434/v1", keys: [] },
  openai: { url: "https://api.openai.com/v1" },
  perplexity: { url: "https://api.perplexity.ai" },
  sambanova: { name: "SambaNova", url: "https://api.sambanova.ai/v1", keys: ["SAMBANOVA_API_KEY"] },
  sglang: { name: "SGLang (local)", url: "http://localhost:30000/v1", keys: [] },
  together: { url: "https://api.together.xyz/v1" },
  v0: { url: "https://api.v0.dev/v1" },
  venice: { url: "https://api.venice.ai/api/v1" },
  "vercel-ai-gateway": { url: "https://ai-gateway.vercel.sh/v1" },
  vllm: { name: "vLLM (local)", url: "http://localhost:8000/v1", keys: [] },
  xai: { url: "https://api.x.ai/v1" },
  zai: { keys: ["ZHIPU_API_KEY", "ZAI_API_KEY"] },
};

const V4_FLASH = { input: 0.3, output: 1.2, cached: 0.006, context: 1000000, longest: 393216, reasoning: 1 };

/** Provider, model, facts: names still in wide use that the sources no longer list. Both stand for deepseek-v4-flash. */
export const MODELS_BY_HAND = [
  ["deepseek", "deepseek-chat", V4_FLASH],
  ["deepseek", "deepseek-reasoner", V4_FLASH],
];
