// Runs that are wrong from the start: stopped at the first call, with the sentence that helps, and nothing used up.
import { expect, onTestFinished, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { failing, type ModelAnswer, serveModel } from "./support/model-server.ts";
import { serveScripted } from "./support/network-run.ts";

const RUN = ["run", "--config", "config.yml", "--output-dir", "out", "--quiet"];

function writeConfig(work: WorkFolder, url: string): void {
  const entry = { provider: "openai", api_base: url };
  const config = {
    datasets: ["StudentAcademicPortal"],
    bundled: true,
    limit: 3,
    models: { "scripted-agent": entry, "scripted-user": entry },
    agent_model: "openai/scripted-agent",
    user_model: "openai/scripted-user",
  };
  work.write("config.yml", JSON.stringify(config));
}

async function serve(answer: ModelAnswer) {
  const server = await serveModel(answer);
  onTestFinished(() => server.close());
  return server;
}

test.each([
  [401, "does not accept the key (401; no key is set): set a valid one: no such key"],
  [403, "gives no access to scripted-agent (403; no key is set): no such key"],
  [404, "does not know scripted-agent (404): check the model's name and api_base: no such key"],
])(
  "a %i at the start stops the run with that sentence and 2, and uses up no attempt, however often",
  async (status, text) => {
    const work = workFolder();
    const server = await serve(failing(status, { error: { message: "no such key" } }));
    writeConfig(work, server.baseUrl);
    for (const _ of [1, 2, 3, 4]) {
      const { code, stderr } = await work.run(RUN);
      expect(code).toBe(2);
      expect(stderr).toContain(`openai/scripted-agent cannot be used: ${server.baseUrl}`);
      expect(stderr).toContain(text);
      expect(stderr).toContain(
        "no rollout has used up an attempt. Once that is right, to continue: npx rollout resume out",
      );
      expect(stderr).not.toContain("bug");
    }
    expect(server.received.length).toBeLessThanOrEqual(4 * 3);
    expect(work.read("out/failures.jsonl")).toBe("");
    const status1 = await work.run(["status", "out"]);
    expect(status1.stdout).toContain(text);
    writeConfig(work, (await serveScripted()).url);
    expect((await work.run(RUN)).code).toBe(0);
    const records = work.records("out/trajectories/StudentAcademicPortal.jsonl");
    expect(records.map(({ metadata }) => metadata.attempt)).toEqual([1, 1, 1]);
  },
);

test("an address without a server stops the run at once", async () => {
  const work = workFolder();
  const server = await serveModel({});
  await server.close();
  writeConfig(work, server.baseUrl);
  const { code, stderr } = await work.run(RUN);
  expect(code).toBe(2);
  expect(stderr).toContain(`cannot be used: no answer from ${server.baseUrl}`);
  expect(stderr).toContain("Check api_base, and that the server is running.");
  expect(work.read("out/failures.jsonl")).toBe("");
});

test("a judge that cannot be used stops the run too, and the records made so far are kept", async () => {
  const work = workFolder();
  const server = await serve(failing(401, { error: { message: "no such key" } }));
  const config = {
    datasets: ["StudentAcademicPortal"],
    bundled: true,
    max_workers: 1,
    models: { judge: { provider: "openai", api_base: server.baseUrl } },
    eval: { judge_model: "openai/judge" },
  };
  work.write("config.yml", JSON.stringify(config));
  const { code, stderr } = await work.run(RUN);
  expect(code).toBe(2);
  expect(stderr).toContain(`openai/judge cannot be used: ${server.baseUrl}`);
  const records = work.records("out/trajectories/StudentAcademicPortal.jsonl").length;
  const again = JSON.parse((await work.run(["status", "out", "--json"])).stdout);
  expect(again).toMatchObject({ state: "stopped", stopped_by: "setup", totals: { done: records } });
});
