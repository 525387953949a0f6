import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Config, resolveConfig } from "../src/config/index.ts";
import { createScriptFinder, writeStarter } from "../src/domains/index.ts";
import { packRun } from "../src/queue/bundle/index.ts";
import { makeRollouts } from "../src/runner/index.ts";
import { TwoMachines } from "./support/bundle.ts";
import { WorkFolder } from "./support/cli.ts";
import { serveScripted } from "./support/network-run.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";
import { writeShop } from "./support/shop-dataset.ts";

const scripted = { agent_model: "scripted/agent", user_model: "scripted/user" };

/** Equal records, which hold the fingerprints: on this machine, and on one that never saw the project. */
async function expectSame(machines: TwoMachines, env: { [name: string]: string } = {}) {
  const here = await machines.here("run.yml", env);
  const packed = await machines.pack("run.yml", env);
  machines.leave();
  const there = await machines.there(env);
  expect(here.length).toBeGreaterThan(0);
  expect(there).toEqual(here);
  return packed;
}

function configure(machines: TwoMachines, config: object): void {
  machines.write("run.yml", stringify({ sync: "never", max_workers: 4, ...config }));
}

test("all bundled domains and combinations", async () => {
  const machines = new TwoMachines();
  configure(machines, { bundled: true, auto_discover: {}, limit: 2, rollouts: 2 });
  const { files, needs } = await expectSame(machines);
  expect(files.every((path) => path.startsWith("bundled/"))).toBe(true);
  expect(needs).toEqual([]);
  const [run = ""] = readdirSync(join(machines.work.path, "cache", "runs"));
  expect(existsSync(join(machines.work.path, "cache", "files"))).toBe(false); // the worker's program has them itself
  expect(run).toMatch(/^[0-9a-f]{32}$/);
});

test("a TypeScript dataset whose server imports what lies next to it", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "campus_library"), "ts");
  machines.write("campus_library/lib/dates.ts", 'export const LATE: string = "late";\n');
  machines.write("campus_library/mcp_servers/_shared.ts", 'export { LATE } from "../lib/dates.ts";\n');
  machines.write("campus_library/lib/unused.bin", "x");
  machines.write("campus_library/node_modules/big/index.js", "x");
  machines.write("campus_library/.git/config", "x");
  machines.write("campus_library/outputs/old.jsonl", "x");
  machines.write("campus_library/queries/Other.jsonl", "");
  const server = "home/project/campus_library/mcp_servers/CampusLibrary.ts";
  machines.work.write(
    server,
    `import { LATE } from "./_shared.ts";\nif (LATE !== "late") throw new Error();\n${machines.work.read(server)}`,
  );
  configure(machines, { ...scripted, base_path: "campus_library", datasets: ["CampusLibrary"] });
  const { files } = await expectSame(machines);
  expect(files).toContain("run/campus_library/mcp_servers/_shared.ts");
  expect(files).toContain("run/campus_library/lib/dates.ts");
  expect(files.filter((path) => /node_modules|\.git|outputs\/old|Other|unused/.test(path))).toEqual([]);
});

test("a combination of a folder, in JavaScript, in processes of its own, in every mode", async () => {
  for (const mode of ["positive", "no_tool", "wrong_tool"]) {
    const machines = new TwoMachines();
    writeShop(new WorkFolder(machines.project));
    configure(machines, {
      ...scripted,
      base_path: "shop",
      datasets: mode === "positive" ? ["Domain1+Domain2", "Domain1"] : ["Domain1"],
      mode,
      isolation: "process",
    });
    await expectSame(machines);
  }
});

describe.runIf(await havePython())("in Python", () => {
  test("a dropped-in dataset, single and cross", async () => {
    const machines = new TwoMachines();
    writePythonDataset(join(machines.project, "data"));
    configure(machines, { ...scripted, base_path: "data", auto_discover: {} });
    const { files } = await expectSame(machines);
    expect(files.some((path) => path.includes("single domain/database/outputs/entities/Member.json"))).toBe(true);
  });

  test("a server that imports a package of the dataset's, which reads its own data", async () => {
    const machines = new TwoMachines();
    writeStarter(join(machines.project, "lib"), "py");
    machines.write("lib/helpers/__init__.py", "from .words import read\n");
    machines.write(
      "lib/helpers/words.py",
      'import os\ndef read():\n    with open(os.path.join(os.path.dirname(__file__), "deep", "words.txt")) as f: return f.read()\n',
    );
    machines.write("lib/helpers/deep/words.txt", "hello");
    machines.write("lib/helpers/__pycache__/x.pyc", "x");
    machines.write("lib/venv/pyvenv.cfg", "x");
    const server = "home/project/lib/mcp_servers/Lib.py";
    machines.work.write(
      server,
      `import os, sys\nsys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))\nfrom helpers import read\nassert read() == "hello"\n${machines.work.read(server)}`,
    );
    configure(machines, { ...scripted, base_path: "lib", datasets: ["Lib"] });
    const { files } = await expectSame(machines);
    expect(files.filter((path) => /venv|pycache/.test(path))).toEqual([]);
  });

  test("questions with own functions and a corpus", async () => {
    const machines = new TwoMachines();
    cpSync("examples/research", join(machines.project, "research"), { recursive: true });
    machines.write(
      "tools/units.py",
      'from rates import RATE\n\ndef convert(amount: float) -> float:\n    """Converts.\n\n    Args:\n        amount: how much\n    """\n    return amount * RATE\n',
    );
    machines.write("tools/rates.py", "RATE = 2\n");
    machines.write("tools/private.py", "x = 1\n");
    configure(machines, {
      agent_model: "scripted/agent",
      max_turns: 1,
      limit: 6,
      rollouts: 2,
      datasets: {
        questions: {
          path: "research/questions.jsonl",
          rounds: true,
          tools: ["calculator"],
          tool_files: ["research/tools.py", "./tools/units.py"],
          corpus: "research/corpus",
        },
      },
    });
    const { files } = await expectSame(machines);
    expect(files).toContain("run/project/tools/rates.py");
    expect(files).not.toContain("run/project/tools/private.py");
  });
});

test("an MCP server by command: a local script that reads what lies next to it", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "shelf"), "mcp");
  const text = machines.work.read("home/project/shelf/run.yml");
  machines.write("run.yml", text.replaceAll(machines.project, "."));
  const { files } = await expectSame(machines);
  expect(files.filter((path) => path.endsWith(".json")).sort()).toEqual([
    "run/shelf/books.json",
    "run/shelf/tools.json",
  ]);
});

test("an MCP server by command: absolute paths, a folder of its own, a flag with a path, packages", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "shelf"), "mcp");
  machines.write(
    "shelf/node_modules/greet/package.json",
    '{"name":"greet","version":"1.0.0","type":"module","main":"x.js","dependencies":{"word":"1"}}',
  );
  machines.write("shelf/node_modules/greet/x.js", 'export { default } from "word";\n');
  machines.write("shelf/node_modules/word/package.json", '{"name":"word","version":"1.0.0","main":"x.js"}');
  machines.write("shelf/node_modules/word/x.js", 'module.exports = "hello";\n');
  machines.write("shelf/node_modules/unused/package.json", "{}");
  machines.write("extra.txt", "extra");
  const server = machines.work.read("home/project/shelf/server.mjs");
  machines.write(
    "shelf/server.mjs",
    `import greet from "greet";\nimport { readFileSync as read } from "node:fs";\nif (greet !== "hello") throw new Error();
if (read(process.argv[2].split("=")[1], "utf8") !== "extra" || read("books.json", "utf8") === "") throw new Error();
if (read(process.env.EXTRA, "utf8") !== "extra") throw new Error();\n${server}`,
  );
  const own = join(machines.project, "shelf");
  const extra = join(machines.project, "extra.txt");
  configure(machines, {
    ...scripted,
    datasets: {
      shelf: {
        path: join(own, "queries.jsonl"),
        mcpServers: {
          library: {
            command: process.execPath,
            args: [join(own, "server.mjs"), `--extra=${extra}`],
            cwd: "shelf",
            env: { EXTRA: extra },
          },
        },
      },
    },
  });
  const { files } = await expectSame(machines);
  expect(files).toContain("run/project/shelf/node_modules/word/x.js");
  expect(files.filter((path) => path.includes("unused"))).toEqual([]);
});

test("the program's own MCP server is the worker's own", async () => {
  const machines = new TwoMachines();
  const program = resolve("bin/rollout.js");
  cpSync("src/domains/bundled/queries/StudentAcademicPortal.jsonl", join(machines.project, "portal.jsonl"));
  configure(machines, {
    ...scripted,
    limit: 2,
    datasets: { portal: { path: "portal.jsonl" } },
    mcpServers: { portal: { command: process.execPath, args: [program, "mcp", "serve", "StudentAcademicPortal"] } },
  });
  const { files } = await expectSame(machines);
  expect(files).toEqual(["run/project/portal.jsonl"]);
});

test("own prompts, faults, a models.yml with a provider of its own, keys of each machine", async () => {
  const seen: unknown[] = [];
  const server = await serveScripted({
    findScript: createScriptFinder().find,
    onRequest: (request) => seen.push(request),
  });
  const machines = new TwoMachines();
  machines.write(
    "models.yml",
    stringify({
      models: {
        "house/scripted-agent": {
          provider: "house",
          api_base: `\${HOUSE_URL}`,
          api_key: `\${HOUSE_KEY}`,
          headers: { "X-Run": "{run}" },
        },
        "scripted-user": { provider: "openai", api_base: server.url, api_key: "EMPTY" },
        unused: { provider: "openai", api_key: "sk-literal-0123456789abcdefghij" },
      },
    }),
  );
  machines.write("prompts/agent.md", "Answer kindly. {policy}\n");
  machines.write("prompts/user.md", "You are in a hurry.\n");
  configure(machines, {
    bundled: true,
    limit: 2,
    models_config_file: "models.yml",
    faults: { rates: { error: 0.2 } },
    datasets: {
      StudentHealthServices: {
        agent: { model: "house/scripted-agent", system_prompt_file: "prompts/agent.md" },
        user: {
          model: "openai/scripted-user",
          guidelines_file: "prompts/user.md",
          extra_params: { user: `\${TEAM:-nobody}` },
        },
      },
    },
  });
  const here = await machines.here("run.yml", { HOUSE_URL: server.url, HOUSE_KEY: "collector-key-1", TEAM: "a" });
  const packed = await machines.pack("run.yml", { HOUSE_URL: server.url, HOUSE_KEY: "collector-key-1", TEAM: "a" });
  expect(packed.needs).toEqual(["HOUSE_KEY", "HOUSE_URL", "TEAM"]);
  expect(packed.notes.join("\n")).toContain("another machine on every worker");
  expect(machines.work.read("store/bundle.json")).not.toMatch(/collector-key|sk-literal/);
  machines.leave();
  const lacking = await machines.tryThere({ HOUSE_URL: server.url, HOUSE_KEY: "" });
  expect(lacking.stderr).toBe(
    "UsageError: Run run needs HOUSE_KEY, TEAM, which this worker's environment lacks: it takes no work of that run\n",
  );
  expect(machines.work.has("cache")).toBe(false);
  const requests = seen.length;
  expect(await machines.there({ HOUSE_URL: server.url, HOUSE_KEY: "worker-key-22", TEAM: "a" })).toEqual(here);
  expect(seen.length).toBeGreaterThan(requests);
});

test("links in a dataset folder lead only to what the run uses", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "campus_library"), "ts");
  machines.write("private/passwords.txt", "x");
  machines.write("campus_library/shared/a.txt", "a");
  symlinkSync("../../private/passwords.txt", join(machines.project, "campus_library/mcp_servers/stolen.txt"));
  symlinkSync("../../private", join(machines.project, "campus_library/mcp_servers/stolen"));
  symlinkSync("../shared/a.txt", join(machines.project, "campus_library/mcp_servers/inside.txt"));
  symlinkSync("..", join(machines.project, "campus_library/mcp_servers/loop"));
  configure(machines, { ...scripted, base_path: "campus_library", datasets: ["CampusLibrary"] });
  const { files } = await expectSame(machines);
  expect(files.filter((path) => /stolen|passwords|loop/.test(path))).toEqual([]);
  expect(files).toContain("run/campus_library/mcp_servers/inside.txt");
});

test("a table that is a link to elsewhere is refused, since workers would lack it", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "campus_library"), "ts");
  machines.write("private/Extra.json", "[]");
  symlinkSync(
    "../../../../private/Extra.json",
    join(machines.project, "campus_library/database/outputs/entities/Extra.json"),
  );
  configure(machines, { ...scripted, base_path: "campus_library", datasets: ["CampusLibrary"] });
  const { stderr, code } = await machines.tryPacking("run.yml");
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^UsageError: .*campus_library\/database\/outputs\/entities\/Extra.json is a link that leads out of what the run uses/,
  );
});

test("recorded cassettes go with the run, and need no keys; recording does not", async () => {
  const server = await serveScripted();
  const machines = new TwoMachines();
  const models = {
    m: { provider: "openai", api_base: server.url, api_key: `\${LLM_KEY}`, model: "scripted-agent" },
    u: { provider: "openai", api_base: server.url, model: "scripted-user" },
  };
  const config = {
    bundled: true,
    limit: 2,
    datasets: ["StudentHealthServices"],
    agent_model: "m",
    user_model: "u",
    models,
  };
  configure(machines, { ...config, record: "tapes" });
  const here = await machines.here("run.yml", { LLM_KEY: "some-key-1" });
  const refused = await machines.tryPacking("run.yml", { LLM_KEY: "some-key-1" });
  expect(refused.stderr).toContain("record (--record) does not go with a queue");
  await server.close();
  configure(machines, { ...config, replay: "tapes" });
  const { needs } = await machines.pack("run.yml");
  expect(needs).toEqual([]);
  machines.leave();
  expect(await machines.there()).toEqual(here);
});

test("folders named by links, queries and policies from elsewhere, code that its package makes a module", async () => {
  const machines = new TwoMachines();
  const away = join(machines.work.path, "home", "disk");
  writeStarter(join(away, "real_library"), "ts");
  renameSync(join(away, "real_library", "queries"), join(away, "asked"));
  renameSync(join(away, "real_library", "policies"), join(away, "rules"));
  const server = join(away, "real_library", "mcp_servers", "RealLibrary");
  writeFileSync(
    `${server}.js`,
    `import "#words";\n${ts.transpile(readFileSync(`${server}.ts`, "utf8"), { module: ts.ModuleKind.ESNext })}`,
  );
  writeFileSync(join(away, "package.json"), '{"type":"module","imports":{"#words":"./words.js"}}');
  writeFileSync(join(away, "words.js"), "export default 1;\n");
  rmSync(`${server}.ts`);
  symlinkSync(join(away, "real_library"), join(machines.project, "library"));
  const folders = { base_path: "library", query_dir: "../disk/asked", policy_dir: "../disk/rules" };
  configure(machines, { ...scripted, ...folders, datasets: ["RealLibrary"] });
  await expectSame(machines);
});

test("a dataset that is the working folder itself, next to settings with keys and earlier runs", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project), "ts");
  machines.write(
    "models.yml",
    stringify({ models: { other: { provider: "openai", api_key: "sk-0123456789abcdefghijk" } } }),
  );
  machines.write("old/manifest.json", "{}");
  machines.write("old/journal.jsonl", "");
  machines.write("mcp_servers/old-run/manifest.json", "{}");
  machines.write("mcp_servers/old-run/trajectories/x.jsonl", "");
  machines.write("mcp_servers/models.yml", machines.work.read("home/project/models.yml"));
  const config = { ...scripted, base_path: ".", datasets: ["Project"], models_config_file: "mcp_servers/models.yml" };
  configure(machines, config);
  const { files } = await expectSame(machines);
  expect(files.filter((path) => /models|run\.yml|old/.test(path))).toEqual([]);
});

test("an MCP server that is started for each query, with a file of the query's", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "shelf"), "mcp");
  const queries = machines.work.read("home/project/shelf/queries.jsonl").trim().split("\n");
  const tagged = queries.map((line, index) => {
    const query = JSON.parse(line);
    return JSON.stringify({ ...query, task_info: { ...query.task_info, town: `t${index}` } });
  });
  machines.write("shelf/queries.jsonl", `${tagged.join("\n")}\n`);
  for (const index of queries.keys()) machines.write(`towns/t${index}.txt`, `town ${index}`);
  machines.write(
    "shared/read.mjs",
    'import { readFileSync } from "node:fs";\nexport const read = (path) => readFileSync(path, "utf8");\n',
  );
  const server = machines.work.read("home/project/shelf/server.mjs");
  machines.write(
    "shelf/server.mjs",
    `import { read } from "../shared/read.mjs";\nif (!/^town \\d$/.test(read(process.argv[2]))) throw new Error();\n${server}`,
  );
  const args = ["./shelf/server.mjs", `./towns/\${TASK.town}.txt`];
  const mcpServers = { library: { command: "node", args } };
  configure(machines, { ...scripted, datasets: { shelf: { path: "shelf/queries.jsonl", mcpServers } } });
  await expectSame(machines);
});

test("two workers of one machine unpack and play at the same time", async () => {
  const machines = new TwoMachines();
  writeStarter(join(machines.project, "campus_library"), "ts");
  configure(machines, { ...scripted, base_path: "campus_library", datasets: ["CampusLibrary"] });
  const here = await machines.here("run.yml");
  await machines.pack("run.yml");
  machines.leave();
  const outs = ["out-1", "out-2", "out-3"];
  const steps = await Promise.all(outs.map((out) => machines.tryThere({}, out)));
  expect(steps.map(({ stderr }) => stderr)).toEqual(["", "", ""]);
  for (const out of outs) expect(machines.records(out)).toEqual(here);
});

test("bundled domains that are other files on the worker are fetched, not taken for the same", async () => {
  const machines = new TwoMachines();
  const datasets = ["StudentHealthServices", "StudentAcademicPortal+StudentFinancialServices"];
  for (const mode of ["positive", "wrong_tool"] as const) {
    const config: Config = { bundled: true, datasets, limit: 2, mode, sync: "never" };
    const run = resolveConfig(config, { folder: join(machines.work.path, `out-${mode}`) });
    await makeRollouts(run, { env: {} }); // from the sources; the worker is the built program
    const { read, ...bundle } = await packRun(run, {});
    machines.work.write("store/bundle.json", JSON.stringify(bundle));
    for (const { hash } of bundle.files) {
      const pieces: Uint8Array[] = [];
      for await (const piece of read(hash)) pieces.push(piece);
      machines.work.write(`store/files/${hash}`, Buffer.concat(pieces).toString());
    }
    expect(bundle.files.map(({ path }) => path)).toContain("bundled/mcp_servers/StudentHealthServices.ts");
    const { stderr } = await machines.tryThere({}, `there-${mode}`);
    expect(stderr).toBe("");
    expect(machines.records(`there-${mode}`)).toEqual(machines.records(`out-${mode}`));
  }
});

test("functions in TypeScript with a package of the project's, and a prompt for the agent", async () => {
  const machines = new TwoMachines();
  cpSync("node_modules/zod", join(machines.project, "node_modules/zod"), { recursive: true });
  machines.write(
    "tools/double.ts",
    'import { z } from "zod";\nimport { FACTOR } from "../settings.ts";\n/** Doubles. */\nexport function double(amount: number): number {\n  return z.number().parse(amount) * FACTOR;\n}\n',
  );
  machines.write("settings.ts", "export const FACTOR: number = 2;\n");
  machines.write("prompt.md", "Use tools. {answer_format}");
  const plan = [{ steps: [{ calls: [{ name: "double", arguments: { amount: 4 } }] }], say: "<answer>8</answer>" }];
  machines.write("q.jsonl", `${JSON.stringify({ id: "a", question: "4+4?", answer: "8", task_info: { plan } })}\n`);
  configure(machines, {
    agent_model: "scripted/agent",
    max_turns: 1,
    system_prompt_file: "prompt.md",
    datasets: { q: { path: "q.jsonl", rounds: true, tool_files: ["tools/double.ts"] } },
  });
  const { files } = await expectSame(machines);
  expect(files.filter((path) => path.endsWith("prompt.md") || path.endsWith(".d.ts"))).toEqual([]);
});
