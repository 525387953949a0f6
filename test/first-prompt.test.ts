// First prompts that do not fit a model's context: all of them, or one among many. A server with a short context stands
// before the rehearsal server; what it refuses, it refuses in vLLM's words.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../src/config/index.ts";
import { workFolder } from "./support/cli.ts";
import { failing, type Received, serveModel } from "./support/model-server.ts";
import { canonical, networkRun, play, serveScripted } from "./support/network-run.ts";
import { temporaryFolder } from "./support/play.ts";

const OVERFLOW = {
  object: "error",
  message: "This model's maximum context length is 512 tokens. However, you requested 900 tokens in the messages.",
  type: "BadRequestError",
  code: 400,
};
type Rule = (request: Received) => boolean;
const DATASET = "StudentAcademicPortal";

/** The rule may be changed, as a server is started with a longer context. */
async function serveShort(isTooLong: Rule) {
  const { url } = await serveScripted();
  const served = { url: "", refused: 0, isTooLong };
  const server = await serveModel(async (response, request) => {
    if (served.isTooLong(request)) {
      served.refused++;
      return failing(400, OVERFLOW)(response);
    }
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/chat/completions`, { method: "POST", body: request.text, headers });
    response.writeHead(answer.status, headers).end(await answer.text());
  });
  onTestFinished(() => server.close());
  served.url = server.baseUrl;
  return served;
}

const ENTRY = { headers: { "X-Query": "{query_id}" } };
const by =
  (model: string): Rule =>
  (request) =>
    request.body.model === model;
const inQuery = (model: string, ...ids: string[]): Rule => {
  return (request) => by(model)(request) && ids.includes(String(request.headers["x-query"]));
};
const runAt = (url: string, config: Partial<Config>, folder?: string) =>
  networkRun(url, { entry: ENTRY, config, folder });

const PARTIES = ["agent", "user"];
const journal = (folder: string) => readFileSync(join(folder, "journal.jsonl"), "utf8");

test.each(
  PARTIES.flatMap(
    (party) =>
      [
        [party, 1, 1],
        [party, 1, 4],
        [party, 25, 1],
        [party, 25, 8],
      ] as const,
  ),
)(
  "no first prompt of the %s fits: the run of %i queries by %i workers stops, with nothing done, and goes on once one does",
  async (party, limit, max_workers) => {
    const server = await serveShort(by(`scripted-${party}`));
    const folder = join(temporaryFolder(), "run");
    const run = () => runAt(server.url, { limit, max_workers }, folder);
    await expect(play(run())).rejects.toMatchObject({
      name: "SetupError",
      message: expect.stringMatching(
        new RegExp(`^openai/scripted-${party} cannot be used as the ${party} of ${DATASET}, .* is 512 tokens`),
      ),
    });
    expect(server.refused).toBeLessThan(25);
    expect(readFileSync(join(folder, "trajectories", `${DATASET}.jsonl`), "utf8")).toBe("");
    expect(readFileSync(join(folder, "failures.jsonl"), "utf8")).toBe("");
    expect(journal(folder)).not.toContain('"rollout-end"');
    server.isTooLong = () => false;
    const { records, result } = await play(run());
    expect(result).toMatchObject({ finished: limit, failed: 0, left: 0 });
    expect(new Set(records.map(({ metadata }) => metadata.attempt))).toEqual(new Set([1]));
  },
);

test.each(PARTIES.flatMap((party) => [1, 8].map((workers) => [party, workers] as const)))(
  "one or three first prompts of the %s do not fit: those rollouts of %i workers are context_overflow, and the others as ever",
  async (party, max_workers) => {
    const free = await serveShort(() => false);
    const undisturbed = await play(runAt(free.url, { limit: 12 }));
    const ids = undisturbed.records.map(({ query_id }) => query_id).sort();
    for (const long of [ids.slice(0, 1), ids.slice(0, 3), ids.slice(-1)]) {
      const server = await serveShort(inQuery(`scripted-${party}`, ...long));
      const { records, result } = await play(runAt(server.url, { limit: 12, max_workers }));
      expect(result).toMatchObject({ finished: 12, failed: 0, left: 0 });
      const isLong = ({ query_id }: { query_id: string }) => long.includes(query_id);
      expect(records.filter(isLong).map(({ metadata }) => [metadata.stop_reason, metadata.blame])).toEqual(
        long.map(() => ["context_overflow", party]),
      );
      expect(canonical(records.filter((record) => !isLong(record)))).toEqual(
        canonical(undisturbed.records.filter((record) => !isLong(record))),
      );
    }
  },
);

test("a resumed run knows that prompts fitted before; if none does any more, it stops all the same", async () => {
  const server = await serveShort(() => false);
  const folder = join(temporaryFolder(), "run");
  const run = (limit: number) => runAt(server.url, { limit, max_workers: 2 }, folder);
  await play(run(2));
  const before = new Set((await play(run(2))).records.map(({ query_id }) => query_id));
  server.isTooLong = (request) => !before.has(String(request.headers["x-query"]));
  const { records } = await play(run(3));
  expect(records.map(({ metadata }) => metadata.stop_reason === "context_overflow")).toEqual([false, false, true]);
  await expect(play(run(25))).rejects.toMatchObject({ name: "SetupError" });
  server.isTooLong = () => false;
  expect((await play(run(25))).result).toMatchObject({ finished: 22, failed: 0 });
});

test("a dataset whose prompts never fit stops the run, whatever other datasets do", async () => {
  const server = await serveShort((request) => /^sfs/.test(String(request.headers["x-query"])));
  const run = runAt(server.url, { datasets: [DATASET, "StudentFinancialServices"], limit: 2, max_workers: 2 });
  await expect(play(run)).rejects.toThrow("of StudentFinancialServices, whose first prompt does not fit");
});

test("the command line says it with 2, and what to do", async () => {
  const server = await serveShort(by("scripted-agent"));
  const work = workFolder();
  const entry = { provider: "openai", api_base: server.url };
  const models = { "scripted-agent": entry, "scripted-user": entry };
  work.write("models.yml", JSON.stringify({ models }));
  const { code, stderr } = await work.run([
    ...["single", "--domains", DATASET, "--bundled", "--limit", "3", "--output-dir", "out", "--quiet"],
    ...["--models-config", "models.yml", "--agent-model", "openai/scripted-agent"],
    ...["--user-model", "openai/scripted-user"],
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain("openai/scripted-agent cannot be used as the agent of StudentAcademicPortal");
  expect(stderr).toContain("512 tokens");
  expect(stderr).toContain("Shorten prompt and tools, lower max_tokens, or use a model or a server with a longer");
  expect(stderr).toContain("no rollout has used up an attempt");
  expect(work.read(`out/trajectories/${DATASET}.jsonl`)).toBe("");
});
