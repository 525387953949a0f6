// How servers say that a dialogue no longer fits a model's context: the body that was sent, where it can be read, and the
// pattern that recognises it. A server that is missing is one more row. overflow.ts looks for the patterns.
import type { Json } from "../core/index.ts";

export type Wording = {
  server: string;
  /** looked for in the error's message and codes, upper or lower case */
  pattern: RegExp;
  status: number;
  body: Json;
  source: string;
};

const GITHUB = "https://github.com/";
const invalid = (message: string, more: { [key: string]: Json } = {}): Json => ({
  error: { message, type: "invalid_request_error", param: null, ...more },
});

export const WORDINGS: readonly Wording[] = [
  {
    server: "OpenAI",
    pattern: /context_length_exceeded/,
    status: 400,
    body: invalid(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 202868 tokens (202767 in the messages, 101 in the functions). Please reduce the length of the messages or functions.",
      { param: "messages", code: "context_length_exceeded" },
    ),
    source: `${GITHUB}bytedance/deer-flow/issues/310`,
  },
  {
    server: "OpenAI",
    pattern: /input exceeds the context window/,
    status: 400,
    body: invalid("Your input exceeds the context window of this model. Please adjust your input and try again."),
    source: `${GITHUB}anomalyco/opencode/issues/6071`,
  },
  {
    server: "OpenAI, Azure OpenAI",
    pattern: /input tokens exceed the configured limit of [\d,]+ tokens/,
    status: 400,
    body: invalid(
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.",
    ),
    source: `${GITHUB}cline/cline/issues/5474`,
  },
  {
    server: "vLLM",
    pattern: /maximum context length is [\d,]+ tokens/,
    status: 400,
    body: {
      object: "error",
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion. None",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    source: `${GITHUB}vllm-project/vllm/issues/20409`,
  },
  {
    server: "vLLM (0.15 and later)",
    pattern: /maximum context length is [\d,]+ tokens/,
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 2048 tokens. However, your request has 2040 input tokens plus 45 'max_tokens'. Please reduce one or the other. (parameter=input_tokens, max_tokens, value=(2040, 45))",
        type: "BadRequestError",
        param: "input_tokens, max_tokens",
        code: 400,
      },
    },
    source: `${GITHUB}vllm-project/vllm/pull/33425`,
  },
  {
    server: "vLLM",
    pattern: /maximum context length is [\d,]+ tokens/,
    status: 400,
    body: {
      error: {
        message:
          "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104). None",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
    },
    source: `${GITHUB}canfieldjuan/finetunelab.ai/blob/main/docs/MAX_TOKENS_CONTEXT_OVERFLOW_FIX.md`,
  },
  {
    server: "vLLM (before 0.5, without max_tokens)",
    pattern: /max_tokens must be at least 1, got -\d+/,
    status: 400,
    body: {
      object: "error",
      message: "max_tokens must be at least 1, got -186.",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    source: `${GITHUB}vllm-project/vllm/issues/4667`,
  },
  {
    server: "SGLang, Together",
    pattern: /input \([\d,]+ tokens\) is longer than the model'?s context length/,
    status: 400,
    body: {
      object: "error",
      message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    source: `${GITHUB}QwenLM/Qwen3/issues/1321`,
  },
  {
    server: "SGLang",
    pattern: /token count exceeds the model'?s maximum context length/,
    status: 400,
    body: {
      object: "error",
      message:
        "Requested token count exceeds the model's maximum context length of 1000 tokens. You requested a total of 1206 tokens: 806 tokens from the input messages and 400 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    source: `${GITHUB}sgl-project/sglang/blob/main/test/srt/test_request_length_validation.py`,
  },
  {
    server: "llama.cpp",
    pattern: /exceed_context_size_error|request \([\d,]+ tokens\) exceeds the available context size/,
    status: 400,
    body: {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 14429,
        n_ctx: 8192,
      },
    },
    source: `${GITHUB}oobabooga/textgen/issues/7257`,
  },
  {
    server: "llama.cpp (before September 2025)",
    pattern: /request exceeds the available context size/,
    status: 500,
    body: {
      error: {
        code: 500,
        message:
          "the request exceeds the available context size. try increasing the context size or enable context shift",
        type: "server_error",
      },
    },
    source: `${GITHUB}ggml-org/llama.cpp/pull/15780`,
  },
  {
    server: "llama-cpp-python",
    pattern: /requested tokens \([\d,]+\) exceed context window/,
    status: 500,
    body: {
      error: { message: "Requested tokens (2285) exceed context window of 2048", type: "internal_server_error" },
    },
    source: `${GITHUB}rllm-team/rllm/issues/55`,
  },
  {
    server: "LM Studio",
    pattern:
      /loaded with context length of only|tokens to keep from the initial prompt is greater than the context length/,
    status: 400,
    body: {
      error:
        "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    },
    source: `${GITHUB}cline/cline/issues/3664`,
  },
  {
    server: "Ollama",
    pattern: /prompt is longer than the context length/,
    status: 400,
    body: invalid(
      "the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length",
    ),
    source: `${GITHUB}ollama/ollama/blob/main/llm/llama_server.go`,
  },
  {
    server: "Ollama",
    pattern: /input length exceeds the context length|prompt too long; exceeded (max )?context length/,
    status: 400,
    body: { error: "the input length exceeds the context length" },
    source: `${GITHUB}nano-step/nano-brain/issues/208`,
  },
  {
    server: "TGI, Together",
    pattern: /`?inputs`? tokens \+ `?max_new_tokens`? must be <= [\d,]+/,
    status: 422,
    body: {
      error:
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: 79993 `inputs` tokens and 1024 `max_new_tokens`",
      error_type: "validation",
    },
    source: `${GITHUB}bytedance/UI-TARS-desktop/issues/626`,
  },
  {
    server: "TGI",
    pattern: /`?inputs`? must have less than [\d,]+ tokens/,
    status: 422,
    body: {
      error: "Input validation error: `inputs` must have less than 4096 tokens. Given: 4545",
      error_type: "validation",
    },
    source: `${GITHUB}meta-llama/llama/issues/1103`,
  },
  {
    server: "Together",
    pattern: /`?inputs`? tokens \+ `?max_new_tokens`? must be <= [\d,]+/,
    status: 400,
    body: invalid(
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`",
      { param: "max_tokens", code: null },
    ),
    source: `${GITHUB}BerriAI/litellm/issues/4934`,
  },
  {
    server: "Anthropic",
    pattern: /prompt is too long: [\d,]+ tokens > [\d,]+ maximum/,
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 208310 tokens > 200000 maximum" },
      request_id: "req_011CVQe1dLrGNMJyE1ghG1av",
    },
    source: `${GITHUB}anthropics/claude-code/issues/12186`,
  },
  {
    server: "Anthropic",
    pattern: /input length and `?max_tokens`? exceed context limit/,
    status: 400,
    body: {
      type: "error",
      error: {
        type: "invalid_request_error",
        message:
          "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
      },
      request_id: "req_011CUB2XUHWkFnQzxcKBbjpF",
    },
    source: `${GITHUB}docker/docker-agent/issues/569`,
  },
  {
    server: "Google",
    pattern: /input token count (\([\d,]+\) )?exceeds the maximum number of tokens allowed/,
    status: 400,
    body: {
      error: {
        code: 400,
        message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
    source: `${GITHUB}google-gemini/gemini-cli/issues/6678`,
  },
  {
    server: "Bedrock",
    pattern: /input is too long for (the )?requested model/,
    status: 400,
    body: { message: "Input is too long for requested model." },
    source: `${GITHUB}aws-samples/assessment-generator/issues/2`,
  },
  {
    server: "Bedrock (Anthropic's models)",
    pattern: /prompt is too long: [\d,]+ tokens > [\d,]+ maximum/,
    status: 400,
    body: { message: "The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum" },
    source: `${GITHUB}daisuke-awaji/moca/issues/254`,
  },
  {
    server: "Mistral",
    pattern: /invalid_request_prompt_too_long|prompt [\d,]+ > [\d,]+ maximum context length/,
    status: 400,
    body: {
      object: "error",
      message: "Prompt 267060 > 262144 maximum context length",
      type: "invalid_request_prompt_too_long",
      param: null,
      code: "3059",
      raw_status_code: 400,
    },
    source: "https://docs.mistral.ai/resources/known-limitations",
  },
  {
    server: "Mistral",
    pattern: /prompt contains [\d,]+ tokens.{0,60} too large for model with [\d,]+ maximum context length/,
    status: 400,
    body: {
      object: "error",
      message:
        "Prompt contains 159202 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
      type: "invalid_request_invalid_args",
      param: null,
      code: "3051",
      raw_status_code: 400,
    },
    source: `${GITHUB}earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts`,
  },
  {
    server: "Cohere",
    pattern: /too many tokens: (total number of tokens|(the )?size limit exceeded|the total number)/,
    status: 400,
    body: {
      message:
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating. See https://docs.cohere.com/reference/generate for more details.",
    },
    source: "https://docs.cohere.com/errors-reference",
  },
  {
    server: "DeepSeek",
    pattern: /maximum context length is [\d,]+ tokens/,
    status: 400,
    body: invalid(
      "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
      { code: "invalid_request_error" },
    ),
    source: `${GITHUB}evalstate/fast-agent/issues/621`,
  },
  {
    server: "Kimi, Moonshot",
    pattern: /request exceeded model token limit/,
    status: 400,
    body: {
      error: {
        message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
        type: "invalid_request_error",
      },
    },
    source: `${GITHUB}MoonshotAI/kimi-cli/issues/2011`,
  },
  {
    server: "DashScope, Qwen",
    pattern: /range of input length should be \[/,
    status: 400,
    body: {
      error: {
        code: "invalid_parameter_error",
        message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]",
        param: null,
        type: "invalid_request_error",
      },
      request_id: "81a373d6-28bd-9968-8335-e22a2127c41b",
    },
    source: `${GITHUB}agentscope-ai/QwenPaw/issues/6255`,
  },
  {
    server: "GLM",
    pattern: /prompt exceeds max length|Prompt 超长/,
    status: 400,
    body: { error: { code: "1261", message: "Prompt exceeds max length" } },
    source: `${GITHUB}mangowhoiscloud/geode/pull/668`,
  },
  {
    server: "Doubao",
    pattern: /total tokens of image and text exceed max message tokens/,
    status: 400,
    body: {
      error: {
        code: "InvalidParameter",
        message:
          "Total tokens of image and text exceed max message tokens. Request id: 021772413947435d24b0b4d764165756d4018ab78dadfac58ac58",
        param: "",
        type: "BadRequest",
      },
    },
    source: `${GITHUB}agentscope-ai/QwenPaw/issues/272`,
  },
  {
    server: "Groq",
    pattern: /please reduce the length of the messages or completion/,
    status: 400,
    body: invalid("Please reduce the length of the messages or completion.", {
      param: "messages",
      code: "context_length_exceeded",
    }),
    source: `${GITHUB}letta-ai/letta/issues/1963`,
  },
  {
    server: "Fireworks",
    pattern: /prompt is too long: [\d,]+, model maximum context length: [\d,]+/,
    status: 400,
    body: {
      error: {
        object: "error",
        type: "invalid_request_error",
        code: "invalid_request_error",
        message: "The prompt is too long: 40177, model maximum context length: 32767",
      },
    },
    source: `${GITHUB}fw-ai/cookbook/issues/134`,
  },
  {
    server: "OpenRouter",
    pattern: /endpoint'?s maximum context length is [\d,]+ tokens/,
    status: 400,
    body: {
      error: {
        message:
          'This endpoint\'s maximum context length is 65536 tokens. However, you requested about 92208 tokens (60833 of text input, 10042 of tool input, 21333 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
        code: 400,
        metadata: { provider_name: null },
      },
    },
    source: `${GITHUB}musistudio/claude-code-router/issues/252`,
  },
  {
    server: "OpenRouter (the provider's own words)",
    pattern: /maximum context length is [\d,]+ tokens/,
    status: 400,
    body: {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          raw: '{"error":{"message":"This model\'s maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens. Please reduce the length of the messages.","type":"Bad Request","code":400}}',
          provider_name: "Nvidia",
          is_byok: false,
        },
      },
    },
    source: `${GITHUB}cline/cline/issues/13194`,
  },
  {
    server: "LiteLLM proxy",
    pattern: /ContextWindowExceededError/,
    status: 400,
    body: {
      error: {
        message:
          'litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicError - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200480 tokens > 200000 maximum"}}\nReceived Model Group=anthropic/claude-3-5-sonnet-20241022\nAvailable Model Group Fallbacks=None',
        type: null,
        param: null,
        code: "400",
      },
    },
    source: `${GITHUB}BerriAI/litellm/issues/7259`,
  },
  {
    server: "LiteLLM proxy (the provider's own words)",
    pattern: /input length and `?max_tokens`? exceed context limit/,
    status: 400,
    body: {
      error: {
        message:
          'litellm.BadRequestError: AnthropicException - b\'{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 179413 + 32768 > 200000, decrease input length or `max_tokens` and try again"}}\'. Received Model Group=anthropic/claude-sonnet-4-20250514\nAvailable Model Group Fallbacks=None',
        type: null,
        param: null,
        code: "400",
      },
    },
    source: `${GITHUB}BrokkAi/brokk-app/issues/540`,
  },
  {
    server: "xAI",
    pattern: /maximum prompt length is [\d,]+/,
    status: 400,
    body: {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
    source: `${GITHUB}earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts`,
  },
  {
    server: "GitHub Copilot",
    pattern: /prompt token count of [\d,]+ exceeds the limit of [\d,]+/,
    status: 400,
    body: {
      error: { message: "prompt token count of 93854 exceeds the limit of 90000", param: "", code: "", type: "" },
    },
    source: `${GITHUB}jjleng/copilot-more/issues/35`,
  },
  {
    server: "MiniMax",
    pattern: /context window exceeds limit/,
    status: 400,
    body: {
      type: "error",
      error: { type: "bad_request_error", message: "invalid params, context window exceeds limit" },
    },
    source: `${GITHUB}earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts`,
  },
  {
    server: "oMLX",
    pattern: /prompt too long: [\d,]+ tokens exceeds/,
    status: 400,
    body: { error: { message: "Prompt too long: 41911 tokens exceeds max context window of 32768 tokens" } },
    source: `${GITHUB}ValueCell-ai/ClawX/issues/658`,
  },
];
