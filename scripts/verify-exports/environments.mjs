// The trainers' Python environments, one each, and the chat templates of real models, taken from packages that ship
// them: TRL has exact copies of what models' folders hold, llama.cpp (in llama-cpp-python's source) has the others.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LIMIT_MS = 30 * 60_000;

/** by name: the package that ships it, and the file's name there without .jinja */
const TEMPLATES = {
  "Qwen2.5": ["trl", "qwen2_5"],
  Qwen3: ["trl", "qwen3"],
  "Qwen3-Coder": ["llama.cpp", "Qwen3-Coder"],
  "Qwen3.5": ["trl", "qwen3_5_think"],
  "DeepSeek-V3": ["trl", "deepseekv3"],
  "DeepSeek-V3.1": ["llama.cpp", "deepseek-ai-DeepSeek-V3.1"],
  "DeepSeek-V3.2": ["llama.cpp", "deepseek-ai-DeepSeek-V3.2"],
  "Llama-3.1": ["trl", "llama3_1"],
  "gpt-oss": ["trl", "gptoss"],
  "GLM-4.6": ["llama.cpp", "GLM-4.6"],
  "Mistral-Small-3.2": ["llama.cpp", "Mistral-Small-3.2-24B-Instruct-2506"],
  "Hermes-3": ["llama.cpp", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use"],
  "MiniMax-M2": ["llama.cpp", "MiniMax-M2"],
  "Kimi-K2": ["llama.cpp", "moonshotai-Kimi-K2"],
};

/** The environment's Python, installed if it is not there yet; undefined if it does not install here. */
export function pythonOf(trainer, folder) {
  const environment = join(folder, trainer);
  const python = join(environment, "bin", "python");
  if (existsSync(python)) return python;
  console.log(`installing ${trainer} …`);
  mkdirSync(folder, { recursive: true });
  const done =
    run("python3", ["-m", "venv", environment]) && run(python, ["-m", "pip", "install", "-q", trainer]) && python;
  if (done) return done;
  rmSync(environment, { recursive: true, force: true });
}

/** Writes the templates into `folder` and gives their paths by name. */
export function fetchTemplates(folder, python) {
  mkdirSync(folder, { recursive: true });
  const found = { trl: trlTemplates(python), "llama.cpp": llamaTemplates(folder, python) };
  return Object.fromEntries(
    Object.entries(TEMPLATES).map(([name, [shipped, file]]) => {
      const path = join(folder, `${name}.jinja`);
      writeFileSync(path, readFileSync(join(found[shipped], `${file}.jinja`)));
      return [name, path];
    }),
  );
}

function trlTemplates(python) {
  const { stdout } = spawnSync(python, ["-c", "import trl; print(trl.__path__[0])"], { encoding: "utf8" });
  return join(stdout.trim(), "chat_templates");
}

function llamaTemplates(folder, python) {
  const source = join(folder, "llama");
  const download = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", source];
  if (!existsSync(source) && !run(python, [...download, "llama-cpp-python"]))
    throw new Error("the source of llama-cpp-python, which has the templates, cannot be downloaded");
  const archive = readdirSync(source).find((name) => name.endsWith(".tar.gz"));
  const pattern = "*/vendor/llama.cpp/models/templates/*.jinja";
  if (!run("tar", ["xzf", archive, "--strip-components=3", "--wildcards", pattern], source))
    throw new Error("the templates cannot be unpacked");
  return join(source, "models", "templates");
}

function run(command, words, cwd) {
  return (
    spawnSync(command, words, { cwd, stdio: ["ignore", "ignore", "inherit"], timeout: LIMIT_MS, env: process.env })
      .status === 0
  );
}
