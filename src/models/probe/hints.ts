// What to do about an endpoint's oddities, for the server that it is: each has switches of its own, and a provider's own
// API has none.
import type { EndpointProbe } from "./endpoint.ts";
import { recogniseServer, type Server, type ServerName } from "./recognise.ts";

/**
 * - `calls`: the tools are in the prompt, and no call comes out of it
 * - `template`: the tools are not in the prompt
 * - `reasoning`: it comes as part of the text
 */
export type Trouble = "calls" | "template" | "reasoning";

const HINTS: { [name in ServerName]: { title: string } & { [trouble in Trouble]: string } } = {
  vllm: {
    title: "vLLM",
    calls:
      "start it with --enable-auto-tool-choice --tool-call-parser NAME (the parser that fits the model: hermes, qwen3_coder, llama3_json, mistral, …); if it has that, choose a model that calls tools",
    template: "start it with --chat-template FILE, a template that writes the tools into the prompt",
    reasoning: "start it with --reasoning-parser NAME",
  },
  sglang: {
    title: "SGLang",
    calls:
      "start it with --tool-call-parser NAME (the parser that fits the model); if it has that, choose a model that calls tools",
    template: "start it with --chat-template FILE, a template that writes the tools into the prompt",
    reasoning: "start it with --reasoning-parser NAME",
  },
  llamacpp: {
    title: "llama.cpp",
    calls:
      "start it with --jinja, so that the model's own template and call format are used; if it has that, choose a model that calls tools",
    template:
      "start it with --jinja; if the model file's template knows no tools, give it one with --chat-template-file FILE",
    reasoning: "start it with --reasoning-format deepseek",
  },
  ollama: {
    title: "Ollama",
    calls: 'choose a model that `ollama show` lists with the capability "tools"',
    template: 'the TEMPLATE in the model\'s Modelfile has no .Tools: choose a model with the capability "tools"',
    reasoning: "update Ollama, which then separates it",
  },
  lmstudio: {
    title: "LM Studio",
    calls: "choose a model that it marks as trained for tool use",
    template: "choose a model that it marks as trained for tool use, or correct its prompt template",
    reasoning: "switch on the separate reasoning field in its developer settings",
  },
  litellm: {
    title: "LiteLLM",
    calls: "look at the server behind it: its log shows what it passes on; drop_params may drop tools",
    template: "it or the server behind it drops them: see drop_params, and ask the server behind it directly",
    reasoning: "separate it at the server behind it",
  },
  mock: {
    title: "rollout mock-llm",
    calls: "it plays known queries only, so it calls no tool for the doctor: nothing to do",
    template: "it plays known queries only, so it calls no tool for the doctor: nothing to do",
    reasoning: "start it without --inline-reasoning",
  },
};

const UNKNOWN: { [trouble in Trouble]: string } = {
  calls:
    "a server of your own may lack its switch for tool calls (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama.cpp: --jinja); otherwise choose a model that calls tools",
  template:
    "a server of your own needs a template that writes them there (vLLM, SGLang: --chat-template FILE; llama.cpp: --jinja); otherwise choose a model that takes tools",
  reasoning: "a server of your own may separate it (vLLM, SGLang: --reasoning-parser NAME)",
};

const HOSTED: { [trouble in Trouble]: string } = {
  calls: "choose a model that calls tools",
  template: "choose a model that takes tools",
  reasoning: "nothing to do",
};

const OPEN_WIRES = new Set(["openai", "responses"]);

export async function hintFor(probe: EndpointProbe, trouble: Trouble): Promise<string> {
  const server = await recogniseServer(probe);
  if (server) return `${nameServer(server)}: ${HINTS[server.name][trouble]}`;
  return OPEN_WIRES.has(probe.model.dialect) ? UNKNOWN[trouble] : HOSTED[trouble];
}

function nameServer({ name, by }: Server): string {
  return `the server is ${HINTS[name].title} (${by})`;
}
