// What a run says about itself: failures by reason, bugs of tools, the opening of each dialogue.
import { expect, onTestFinished, test } from "vitest";
import type { RunEvent } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, failing, serveModel } from "./support/model-server.ts";
import { call, itemQuery, planQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

const RUN = ["single", "--domains", "Domain1", "--base-path", "shop"];

/** `find_item` throws for what is broken, and answers with an error for what is not there. */
function writeBrokenShop(work: WorkFolder): void {
  const lookup = (id: string, name: string) =>
    planQuery(id, [{ steps: [call("find_item", { name })], say: "Hm." }, { user: "Thanks. ###STOP###" }]);
  writeShop(work, {
    queries: [lookup("q1", "nothing"), lookup("q2", "broken"), lookup("q3", "broken"), itemQuery("q4")],
  });
  const server = work.read("shop/mcp_servers/Domain1.mjs");
  const broken = 'if (name === "broken") throw new TypeError("the shelf is gone");';
  work.write(
    "shop/mcp_servers/Domain1.mjs",
    server.replace('if (name === "slow")', `${broken}\n      if (name === "slow")`),
  );
}

test("a tool's own bug is shown at the end of the run, by tool, with its first trace; the table counts tool errors", async () => {
  const work = workFolder();
  writeBrokenShop(work);
  const { code, stdout } = await work.run([...RUN, ...SCRIPTED, "--max-workers", "1"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/dataset +rollouts .* tool errors .*\nDomain1 +4 .* 3 +/);
  expect(stdout).toContain(
    "Tool errors, by tool:\n  find_item: 3 of 4 calls, 2 of them exceptions in its code; the first in q2:\n    TypeError: the shelf is gone\n",
  );
  expect(stdout).toMatch(/at find_item \(.*Domain1\.mjs:\d+:\d+\)/);
  expect(stdout).not.toContain("runHandler");
  const traces = work
    .records<{ entry?: { trace?: string } }>("outputs/single/journal.jsonl")
    .flatMap(({ entry }) => entry?.trace ?? []);
  expect(traces).toHaveLength(2);
});

test("--verbose and --json begin each dialogue with its opening message; the journal does not repeat it", async () => {
  const work = workFolder();
  writeShop(work);
  const verbose = await work.run([...RUN, ...SCRIPTED, "--limit", "1", "--verbose"]);
  expect(verbose.stdout).toMatch(/^── q1\n +user {2}Hello, this is q1\.\n/);
  const json = await work.run([...RUN, ...SCRIPTED, "--output-dir", "other", "--json"]);
  const events = json.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEvent);
  const openings = events.flatMap((event) => (event.type === "rollout-start" ? [event.opening] : []));
  expect(openings).toContainEqual([{ role: "user", content: "Hello, this is q2." }]);
  expect(openings).toHaveLength(3);
  expect(work.read("other/journal.jsonl")).not.toContain("Hello, this is");
});

test("failures are told by reason, whole, with what to do, at the end, quietly too, and in status", async () => {
  const work = workFolder();
  writeShop(work, { queries: Array.from({ length: 4 }, (_, n) => itemQuery(`q${n}`)) });
  const long = `the model's worker ${"and its helper ".repeat(12)}died`;
  const server = await serveModel(
    completion({ content: "Done. Good bye." }),
    failing(500, { error: { message: long } }),
  );
  onTestFinished(() => server.close());
  const entry = { provider: "openai", api_base: server.baseUrl };
  const dataset = { base_path: "shop", agent: { model: "openai/served", max_retries: 0 } };
  const config = { datasets: { Domain1: dataset }, models: { served: entry }, user_model: "scripted/user" };
  work.write("config.yml", JSON.stringify({ ...config, max_workers: 1, output_dir: "out" }));
  const quiet = await work.run(["run", "--config", "config.yml", "--quiet"]);
  const told = `× ${server.baseUrl}/chat/completions failed (500): ${long}\n      The server's own log says more; try them again once it works.\n`;
  expect([quiet.code, quiet.stdout]).toEqual([3, ""]);
  expect(quiet.stderr).toContain("4 rollouts failed for infrastructure reasons (out/failures.jsonl):\n  4 × ");
  expect(quiet.stderr).toContain(told);
  expect(quiet.stderr).toContain("npx rollout resume out ");
  expect(quiet.stderr).not.toContain("rollout eval");
  const status = await work.run(["status", "out"]);
  expect(status.stdout).toContain(`failed:\n  4 ${told}`);
  const json = JSON.parse((await work.run(["status", "out", "--json"])).stdout);
  expect(json.failures).toEqual([{ reason: expect.stringContaining(long), kind: "server", count: 4 }]);
});
