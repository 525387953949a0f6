import { expect, test } from "vitest";
import type { MockServer } from "../src/models/index.ts";
import { workFolder } from "./support/cli.ts";
import { completion, failing, serveModel } from "./support/model-server.ts";
import { serveScripted } from "./support/network-run.ts";

const KEY = "sk-planted-0123456789";
const RUN = ["single", "--domains", "StudentAcademicPortal", "--bundled", "--models-config", "models.yml"];
const MODELS = ["--agent-model", "openai/scripted-agent", "--user-model", "openai/scripted-user"];

/** A working folder with a registry that names the server, with prices. */
function place({ url }: Pick<MockServer, "url">, more = "") {
  const work = workFolder();
  const entry = `{provider: openai, api_base: "${url}", input_cost_per_token: 0.000001, output_cost_per_token: 0.000004${more}}`;
  work.write("models.yml", `models:\n  scripted-agent: ${entry}\n  scripted-user: ${entry}\n`);
  return work;
}

test("--record and --replay: the second run needs neither server nor key and makes the same records", async () => {
  const server = await serveScripted({ apiKey: KEY });
  const work = place(server, `, api_key: "\${MY_KEY}"`);
  const args = [...RUN, ...MODELS, "--limit", "2", "--quiet"];
  const recorded = await work.run([...args, "--record", "tapes"], { env: { MY_KEY: KEY } });
  expect(recorded).toEqual({ code: 0, stdout: "", stderr: "" });
  await server.close();
  const replayed = await work.run([...args, "--replay", "tapes", "--output-dir", "again"]);
  expect(replayed).toEqual({ code: 0, stdout: "", stderr: "" });
  const file = "trajectories/StudentAcademicPortal.jsonl";
  expect(work.canonical(`again/${file}`)).toEqual(work.canonical(`outputs/single/${file}`));

  const both = await work.run([...args, "--record", "a", "--replay", "tapes"]);
  expect(both).toEqual({ code: 2, stdout: "", stderr: "record and replay (--record, --replay) exclude each other\n" });
});

test("--max-cost ends with code 4 and the command that goes on; the last table and summary.json tell the cost", async () => {
  const server = await serveScripted();
  const work = place(server);
  const args = [...RUN, ...MODELS, "--limit", "3", "--max-workers", "1"];
  const stopped = await work.run([...args, "--max-cost", "0.015"]);
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toMatch(
    /The budget stopped the run, with \d rollouts left: \$[\d.]+ of \$0\.015 \(--max-cost\) used\.[\s\S]+npx rollout resume outputs\/single --max-cost 0\.0\d/,
  );
  const whole = await work.run([...args, "--max-cost", "100"]);
  expect(whole.code).toBe(0);
  expect(whole.stdout).toMatch(/dataset .* time +cost\nStudentAcademicPortal +3 .* \$0\.\d{4}\n/);
  const summary = JSON.parse(work.read("outputs/single/summary.json"));
  expect(summary.cost_usd).toBeGreaterThan(0.015);
  expect(summary.cost_usd).toBe(summary.datasets.StudentAcademicPortal.cost_usd);
});

test("--dry-run tells calls, tokens, money and time; --pilot makes a few rollouts and extrapolates with ranges", async () => {
  const server = await serveScripted();
  const work = place(server);
  const args = [...RUN, ...MODELS];
  const planned = await work.run([...args, "--dry-run"]);
  expect(planned.code).toBe(0);
  expect(planned.stdout).toMatch(
    /27 rollouts to make.*Nothing was written\.\nAbout \d+ model calls, .* tokens, \$[\d.]+, \d+ \w+\./,
  );
  expect(planned.stdout).toMatch(/\nAssumed: .*--pilot N measures instead\.\n$/);
  expect(work.names()).toEqual(["models.yml"]);
  expect(server.requests().asked).toBe(0);

  const pilot = await work.run([...args, "--pilot", "3"]);
  expect(pilot.code).toBe(0);
  expect(pilot.stdout).toMatch(/pilot +rollouts +calls each.*\nStudentAcademicPortal +3 /);
  expect(pilot.stdout).toMatch(
    /the whole +rollouts.*\nStudentAcademicPortal +27 .* \(.* – .*\) +\$[\d.]+ \(\$[\d.]+ – \$[\d.]+\)/,
  );
  expect(work.has("outputs/single")).toBe(false);
  expect(work.records("outputs/single.pilot/trajectories/StudentAcademicPortal.jsonl")).toHaveLength(3);
});

test("--dry-run warns about a model name that its provider is not known to have, and about no other", async () => {
  const work = workFolder();
  const dry = async (agent: string) => {
    const args = ["single", "--domains", "StudentAcademicPortal", "--bundled", "--dry-run", "--agent-model", agent];
    const { code, stdout } = await work.run(args, { env: { OPENAI_API_KEY: KEY, DEEPSEEK_API_KEY: KEY } });
    expect(code).toBe(0);
    return stdout;
  };
  expect(await dry("deepseek/deepseek-v4-por")).toMatch(
    /deepseek\/deepseek-v4-por is not among .* catalogue of 20\d\d-\d\d-\d\d knows; did you mean deepseek\/deepseek-v4-pro\? It is used as it is\./,
  );
  expect(await dry("openai/gpt-5")).not.toContain("is not among");
  expect(work.names()).toEqual([]);
});

test("doctor checks the machine alone, and names keys without showing them", async () => {
  const work = workFolder();
  const { code, stdout } = await work.run(["doctor"], { env: { DEEPSEEK_API_KEY: KEY } });
  expect(code).toBe(0);
  for (const line of [
    /✓ Node v\d+/,
    /✓ run folders can be written/,
    /GB are free/,
    /Python/,
    /plays to its end/,
    /\nUsable\.\n$/,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).toContain("keys that are set: DEEPSEEK_API_KEY");
  expect(stdout).not.toContain(KEY);
  expect(work.names()).toEqual([]);
});

test("doctor ends with 3 for an endpoint that is of no use, with 2 for a name or key that is not there", async () => {
  const server = await serveModel(completion({ content: "I have no tools." }, { usage: { prompt_tokens: 9 } }));
  const work = place({ url: server.baseUrl });
  const args = ["doctor", "--models-config", "models.yml"];
  const [useless, useful] = await Promise.all([
    work.run([...args, "--agent-model", "openai/scripted-agent"]),
    work.run([...args, "--user-model", "openai/scripted-user"]),
  ]);
  await server.close();
  const [gone, nameless, keyless] = await Promise.all([
    work.run([...args, "--agent-model", "openai/scripted-agent"]),
    work.run(["doctor", "--agent-model", "deepsek/deepseek-chat"]),
    work.run(["doctor", "--agent-model", "deepseek/deepseek-chat"], { env: { DEEPSEEK_API_KEY: "" } }),
  ]);
  expect([useless.code, useful.code, gone.code]).toEqual([3, 0, 3]);
  expect(useless.stdout).toMatch(/✗ does not call a tool when asked to/);
  expect(useful.stdout).toMatch(/openai\/scripted-user as the user, at http:.*\n {2}✓ answers\n/);
  expect(gone.stdout).toMatch(/✗ no answer from http.*ECONNREFUSED/);

  expect([nameless.code, nameless.stderr]).toEqual([
    2,
    expect.stringMatching(/did you mean "deepseek\/deepseek-chat"/),
  ]);
  expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringMatching(/set DEEPSEEK_API_KEY/)]);
});

test("doctor gives the exact line for what an endpoint does oddly, and where it goes", async () => {
  const content = '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>';
  const server = await serveModel(completion({ content }, { usage: { prompt_tokens: 9 } }));
  const work = place({ url: server.baseUrl });
  const { code, stdout } = await work.run([
    ...["doctor", "--models-config", "models.yml", "--agent-model", "openai/scripted-agent"],
  ]);
  await server.close();
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /! writes its tool calls as text.*\n {6}under "agent:" of the dataset in the config: recover_text_calls: true\n/,
  );
});

test("doctor --config examines the models of a config with its settings, and names the one that is refused", async () => {
  const server = await serveModel((response, { body }) => {
    const message = "Unsupported value: 'top_p' does not support 0.9 with this model.";
    if (body.top_p !== undefined) return failing(400, { error: { message, param: "top_p" } })(response);
    return void response.end(JSON.stringify(completion({ content: "ready" }, { usage: { prompt_tokens: 9 } })));
  });
  const work = place({ url: server.baseUrl.replace("/v1", "") });
  work.write(
    "run.yml",
    `bundled: true
models_config_file: models.yml
datasets:
  StudentAcademicPortal:
    agent: {model: openai/scripted-agent, top_p: 0.9}
    user: {model: openai/scripted-user, api_base: "${server.baseUrl}"}
`,
  );
  const { code, stdout } = await work.run(["doctor", "--config", "run.yml"]);
  await server.close();
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /scripted-agent as the agent, at .*\n.*\(400\): Unsupported value: 'top_p'.*That is agent\.top_p: 0\.9 \(in the config\): remove or change it/,
  );
  expect(stdout).toMatch(/scripted-user as the user, at .*\/v1 .*\n {2}✓ answers\n {6}it answered: "ready"\n/);
});
