// OpenAI-compatible servers: vLLM, SGLang, DeepSeek and most hosts. Our own client, since it carries almost all traffic.
import { createOpenAiClient } from "../openai/client.ts";
import type { Dialect } from "./dialect.ts";

export const openai: Dialect = { name: "openai", createClient: createOpenAiClient };
