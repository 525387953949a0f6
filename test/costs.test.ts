// What is not known about costs is said wherever a cost is shown, and what scripts estimate is in no total: whole runs of
// the built program against a model server.
import { expect, onTestFinished, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { completion, serveModel } from "./support/model-server.ts";
import { itemQuery, writeShop } from "./support/shop-dataset.ts";

const USAGE = { prompt_tokens: 1000, completion_tokens: 100 };
const PRICED = "input_cost_per_token: 0.001, output_cost_per_token: 0.01";
const FREE = "input_cost_per_token: 0, output_cost_per_token: 0";

/** Two queries, one turn each; `agent` and `user` are what the registry has besides the address. */
async function place({ agent = "", user = "", usage = USAGE as object | null, userModel = "chatty" } = {}) {
  const server = await serveModel(completion({ content: "Hello." }, usage === null ? {} : ({ usage } as never)));
  onTestFinished(() => server.close());
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2")] });
  const entry = (more: string) => `{provider: openai, api_base: "${server.baseUrl}"${more && `, ${more}`}}`;
  work.write(
    "run.yml",
    `base_path: shop\nmodels:\n  helper: ${entry(agent)}\n  chatty: ${entry(user)}\nagent_model: openai/helper\nuser_model: ${userModel === "chatty" ? "openai/chatty" : userModel}\nmax_turns: 2\ndatasets: [Domain1]\n`,
  );
  const run = async (...more: string[]) => await work.run(["run", "--config", "run.yml", ...more]);
  const record = () => work.records("outputs/run/trajectories/Domain1.jsonl")[0]?.metadata;
  const json = (file: string) => JSON.parse(work.read(`outputs/run/${file}`));
  return { work, run, record, json };
}

const lastRow = (stdout: string) => /^Domain1 +2 .*$/m.exec(stdout)?.[0] ?? "";

test("without prices the cost is unknown everywhere, and each place says whose", async () => {
  const { work, run, record, json } = await place();
  const planned = await run("--dry-run");
  expect(planned.stdout).toMatch(/Domain1 .* unknown\n/);
  expect(planned.stdout).toMatch(/tokens, cost unknown of openai\/chatty and openai\/helper, /);
  const made = await run();
  expect(made.code).toBe(0);
  expect(lastRow(made.stdout)).toMatch(/ unknown$/);
  expect(made.stdout).toContain("What openai/chatty and openai/helper cost is not known: set input_cost_per_token");
  expect(made.stderr).toMatch(/2\/2 done .* cost unknown of openai\/chatty and openai\/helper/);
  expect(record()).toMatchObject({ cost_usd: null, cost_known_usd: 0, usage: { agent: { cost_usd: null } } });
  expect(record()?.cost_unknown_of).toEqual(["openai/chatty", "openai/helper"]);
  const unknown = { cost_usd: null, cost_known_usd: 0, cost_unknown_of: ["openai/chatty", "openai/helper"] };
  expect(json("summary.json")).toMatchObject({ ...unknown, datasets: { Domain1: unknown } });
  const status = await work.run(["status", "outputs/run"]);
  expect(status.stdout).toContain("cost unknown of openai/chatty and openai/helper");
  const { totals } = JSON.parse((await work.run(["status", "outputs/run", "--json"])).stdout);
  expect(totals).toMatchObject({ costUsd: null, costKnownUsd: 0, costUnknownOf: unknown.cost_unknown_of });
  expect((await work.run(["show", "outputs/run", "q1"])).stdout).toContain("cost unknown of openai/chatty and");
  expect((await work.run(["report", "outputs/run"])).code).toBe(0);
  expect(json("report.json")).toMatchObject({
    cost_unknown_of: unknown.cost_unknown_of,
    costs: [{ cost_usd: null }, { cost_usd: null }],
  });
  expect(work.read("outputs/run/report.html").includes("Cost against score")).toBe(false);
  const verified = await work.run(["status", "outputs/run", "--verify"]);
  expect(verified.stdout).toContain("2 records good, 0 damaged lines");
  const all = [planned, made, status].map(({ stdout, stderr }) => stdout + stderr).join("");
  expect(all).not.toMatch(/\$0(\.0+)?\b/);
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining("Everything is there already") });
  const exported = ["export", "outputs/run", "--format", "openai", "--all"];
  expect(await work.run([...exported, "--out", "rows.jsonl"])).toMatchObject({ code: 0 });
  expect(await work.run([...exported, "--out", "rows.parquet"])).toMatchObject({ code: 0 });
  expect(await work.run(["eval", "outputs/run"])).toMatchObject({ code: 0 });
});

test("a part that is known is shown next to the model that is not", async () => {
  const { run, record, json } = await place({ agent: PRICED });
  const planned = await run("--dry-run");
  expect(planned.stdout).toMatch(/Domain1 .* ~\$[\d.]+ \+ unknown\n/);
  const made = await run();
  expect(lastRow(made.stdout)).toMatch(/ \$8\.00 \+ unknown$/);
  expect(made.stderr).toMatch(/2\/2 done .* \$8\.00 \+ unknown of openai\/chatty/);
  expect(record()).toMatchObject({
    ...{ cost_usd: null, cost_known_usd: 4, cost_unknown_of: ["openai/chatty"] },
    usage: { agent: { cost_usd: 4 }, user: { cost_usd: null } },
  });
  expect(json("summary.json")).toMatchObject({ cost_usd: null, cost_known_usd: 8, cost_unknown_of: ["openai/chatty"] });
});

test("half a price is no price", async () => {
  const { run, record } = await place({ agent: PRICED, user: "input_cost_per_token: 0.001" });
  await run("--quiet");
  expect(record()).toMatchObject({ cost_usd: null, cost_unknown_of: ["openai/chatty"] });
});

test("a price without a count of tokens leaves the cost unknown", async () => {
  const { run, record } = await place({ agent: PRICED, user: FREE, usage: null });
  await run("--quiet");
  expect(record()).toMatchObject({ cost_usd: null, cost_known_usd: 0, cost_unknown_of: ["openai/helper"] });
});

test("what the server itself says it cost is known", async () => {
  const { run, record } = await place({ usage: { ...USAGE, cost: 0.25 } });
  await run("--quiet");
  expect(record()).toMatchObject({ cost_usd: 0.75 });
  expect(record()).not.toHaveProperty("cost_unknown_of");
});

test("a price of zero is known: nothing is unknown, and no column is shown for it", async () => {
  const { run, record, json } = await place({ agent: FREE, user: FREE });
  const { stdout, stderr } = await run();
  expect(stdout + stderr).not.toMatch(/unknown|\bcost\b/);
  expect(record()).toMatchObject({ cost_usd: 0 });
  expect(json("summary.json")).toMatchObject({ cost_usd: 0 });
});

test("a budget in dollars over a model without a price is warned about before the first call", async () => {
  const { run } = await place({ agent: PRICED });
  const { stdout } = await run("--max-cost", "100");
  expect(stdout).toMatch(/^The price of openai\/chatty is not known, so a budget .*set input_cost_per_token/);
  const enough = await place({ agent: PRICED });
  expect((await enough.run("--max-cost", "1", "--max-workers", "1")).code).toBe(4);
});

test("what scripts estimate is in no total; records keep it, and show tells it apart", async () => {
  const { work, run, record, json } = await place({ agent: PRICED, userModel: "scripted/user" });
  const planned = await run("--dry-run");
  const made = await run();
  expect(made.code).toBe(0);
  expect(lastRow(made.stdout)).toMatch(/ 4400 .*\$8\.00$/);
  expect(made.stdout).toContain("their tokens are in no total");
  expect(made.stderr).toMatch(/2\/2 done .* 4400 tokens without the scripted · \$8\.00/);
  expect(record()?.usage.user?.input_tokens).toBeGreaterThan(0);
  const { datasets } = json("summary.json");
  expect(datasets.Domain1).toMatchObject({ input_tokens: 4000, output_tokens: 400, cost_usd: 8 });
  expect(datasets.Domain1.scripted_tokens).toBeGreaterThan(0);
  const { totals } = JSON.parse((await work.run(["status", "outputs/run", "--json"])).stdout);
  expect(totals).toMatchObject({ tokens: 4400, scriptedTokens: datasets.Domain1.scripted_tokens, costUsd: 8 });
  expect((await work.run(["show", "outputs/run", "q1"])).stdout).toMatch(
    /2200 tokens \(and \d+ that scripts estimate\), cost \$4\.0000/,
  );
  await work.run(["report", "outputs/run"]);
  expect(json("report.json").costs).toMatchObject([{ tokens: 2200 }, { tokens: 2200 }]);
  expect(planned.stdout).not.toContain("unknown");
});

test("a run of scripted models only has no tokens to show", async () => {
  const work = workFolder();
  const made = await work.run(["single", "--domains", "StudentHealthServices", "--bundled", "--limit", "2"]);
  expect(made.stdout).toMatch(/StudentHealthServices +2 .* – +[\d.]+ m?s\n/);
  expect(made.stderr).toMatch(/2\/2 done .* scripted tokens not counted/);
  const summary = JSON.parse(work.read("outputs/single/summary.json"));
  expect(summary.datasets.StudentHealthServices).toMatchObject({ input_tokens: 0, output_tokens: 0, cost_usd: 0 });
});
