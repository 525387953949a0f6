import { expect, test } from "vitest";
import { PROGRESS, workFolder } from "./support/cli.ts";
import { serveScripted } from "./support/network-run.ts";

const KEY = "sk-planted-0123456789";

test(".env next to the config is read for variables that are not set, also on resume; no value is shown", async () => {
  const server = await serveScripted({ apiKey: KEY });
  const work = workFolder();
  const entry = `{provider: openai, api_base: "${server.url}", api_key: "\${SEED_TEST_KEY}"}`;
  work.write("configs/models.yml", `models:\n  scripted-agent: ${entry}\n  scripted-user: ${entry}\n`);
  const models = "agent_model: openai/scripted-agent\nuser_model: openai/scripted-user\n";
  work.write("configs/run.yml", `${models}bundled: true\nlimit: 2\ndatasets: [StudentHealthServices]\n`);
  const run = ["run", "--config", "configs/run.yml"];
  const without = await work.run([...run, "--quiet"]);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("SEED_TEST_KEY is not set")]);

  work.write("configs/.env", `# keys\nexport SEED_TEST_KEY="${KEY}"\n`);
  const set = await work.run([...run, "--limit", "1"], { env: { SEED_TEST_KEY: "sk-wrong-9876543210" } });
  expect(set.code).not.toBe(0);
  work.remove("outputs/run");

  const made = await work.run([...run, "--limit", "1"]);
  expect([made.code, made.stderr.replace(PROGRESS, "")]).toEqual([0, ""]);
  const resumed = await work.run(["resume", "outputs/run", "--limit", "2"]);
  expect([resumed.code, resumed.stderr.replace(PROGRESS, "")]).toEqual([0, ""]);
  expect(work.records("outputs/run/trajectories/StudentHealthServices.jsonl")).toHaveLength(2);
  for (const { stdout } of [made, resumed]) expect(stdout).not.toContain(KEY);
  for (const file of ["manifest.json", "journal.jsonl"]) expect(work.read(`outputs/run/${file}`)).not.toContain(KEY);
  await server.close();
});
