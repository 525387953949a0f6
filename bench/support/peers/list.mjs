// Who is compared, and what each does more or less than ours when it is used as its own documentation says. A peer is a folder
// here: its packages by exact version, and a file that plays dialogues.

export const PEERS = [
  {
    name: "floor",
    title: "bare undici loop",
    language: "node",
    notes: {
      en: "The floor: requests and JSON, nothing else. No checks, no retries, nothing kept.",
      zh: "下限：只有请求和 JSON。不做检查，不重试，什么也不保存。",
    },
  },
  {
    name: "rollout",
    title: "Rollout",
    language: "node",
    notes: {
      en: "`runRollouts` with the defaults: every entry is in the journal before anything follows from it, records on disk, arguments checked against the schemas, retries, limits, resumable at any moment.",
      zh: "`runRollouts`，全部用默认值：每个条目先进日志，之后才有下一步；记录落盘；参数按 schema 检查；有重试和限额；任何时刻都可续跑。",
    },
  },
  {
    name: "ai-sdk",
    title: "Vercel AI SDK, `generateText`",
    language: "node",
    package: "ai",
    needs: 22,
    notes: {
      en: "Checks arguments (zod) and retries. Keeps nothing on disk; many at once are our own promises around it.",
      zh: "检查参数（zod），会重试。不写盘；并发由我们在外面用 promise 实现。",
    },
  },
  {
    name: "openai-agents",
    title: "OpenAI Agents JS",
    language: "node",
    package: "@openai/agents",
    needs: 22,
    notes: {
      en: "Checks arguments (zod) and retries. Keeps nothing on disk; its tracing, on by default, is off here because it goes to OpenAI's servers. Many at once are our own promises around it.",
      zh: "检查参数（zod），会重试。不写盘；它默认开启的追踪会发往 OpenAI 的服务器，这里关闭。并发由我们在外面用 promise 实现。",
    },
  },
  {
    name: "langgraph",
    title: "LangGraph JS",
    language: "node",
    package: "@langchain/langgraph",
    needs: 22,
    notes: {
      en: "Checks arguments (zod) and retries. No checkpointer, as in its quickstart: nothing is kept and nothing can be resumed. Many at once are our own promises around it.",
      zh: "检查参数（zod），会重试。按它的快速入门不配 checkpointer：什么也不保存，也不能续跑。并发由我们在外面用 promise 实现。",
    },
  },
  {
    name: "pydantic-ai",
    title: "Pydantic AI",
    language: "python",
    package: "pydantic-ai-slim",
    notes: {
      en: "Checks arguments (pydantic) and retries. Keeps nothing on disk; many at once are our own tasks around it.",
      zh: "检查参数（pydantic），会重试。不写盘；并发由我们在外面用 asyncio 任务实现。",
    },
  },
  {
    name: "verifiers",
    title: "verifiers, `ToolEnv`",
    language: "python",
    package: "verifiers",
    notes: {
      en: "Counts tool calls and computes rewards (none here); saves results only when asked. This is the last version with `ToolEnv`, whose tools are functions in the process; later ones start a program for each rollout and speak to its tools over MCP.",
      zh: "统计工具调用并计算奖励（这里没有）；只有要求时才保存结果。这是最后一个带 `ToolEnv`（工具是进程内函数）的版本；之后的版本为每个 rollout 启动一个程序，并通过 MCP 调用工具。",
    },
  },
  {
    name: "inspect",
    title: "Inspect",
    language: "python",
    package: "inspect_ai",
    notes: {
      en: "Does more: logs every event, each model call with its input and output, for its viewer, also while it runs. No score here.",
      zh: "做得更多：记录每个事件，包括每次模型调用的输入和输出，供它的查看器使用，运行中也写。这里不打分。",
    },
  },
  {
    name: "tau2",
    title: "tau2-bench",
    language: "python",
    folder: "ROLLOUT_BENCH_TAU2",
    notes: {
      en: "Does more: a model plays the user too, so a dialogue is 14 calls, all of them counted. Threads; results saved as JSON; no criteria to judge by here. It is not on PyPI (`tau2` there is something else), so it has to be installed as its README says.",
      zh: "做得更多：用户也由模型扮演，因此一次对话有 14 次调用，全部计入。使用线程；结果存为 JSON；这里没有评判标准。它不在 PyPI 上（那里的 `tau2` 是别的东西），需按它的 README 安装。",
    },
  },
];

export const LEFT_OUT = {
  en: "The Python project that Rollout began as is not public, so it is left out.",
  zh: "Rollout 的前身是一个未公开的 Python 项目，因此不在其中。",
};
