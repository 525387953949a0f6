// Whole runs over MCP servers of our own: a world for each task, no state in common, no more servers than workers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { isRunning } from "./support/mcp/support.ts";
import { call, lines, planQuery, SCRIPTED } from "./support/shop-dataset.ts";

const NOTES = fileURLToPath(new URL("support/mcp/notes_server.py", import.meta.url));
const RUN = ["run", "--config", "run.yml", "--output-dir", "out", ...SCRIPTED];
const place = (name: string) => `\${${name}}`;

type Task = { id: string; city?: string };

/** Each adds a note and reads all of them. */
function writeQueries(work: WorkFolder, tasks: Task[], file = "queries.jsonl"): void {
  const queries = tasks.map(({ id, city }) => {
    const query = planQuery(id, [{ steps: [call("add", { text: id }), call("list", {})], say: "Noted." }]);
    return { ...query, task_info: { ...query.task_info, city } };
  });
  work.write(file, lines(queries));
}

function writeConfig(work: WorkFolder, datasets: { [name: string]: object }, more: object = {}): void {
  const named = Object.entries(datasets).map(([name, server]) => [
    name,
    { path: "queries.jsonl", mcpServers: { notes: server } },
  ]);
  work.write(
    "run.yml",
    JSON.stringify({ datasets: Object.fromEntries(named), max_turns: 1, agent_model: "scripted/agent", ...more }),
  );
}

async function serveNotes(...flags: string[]): Promise<string> {
  const server = spawn("python3", [NOTES, "--http", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  return `${String(line).trim()}/mcp`;
}

/** What `list` said in each record, by id. */
function notesOf(work: WorkFolder, dataset: string): { [id: string]: string | undefined } {
  const records = work.records(`out/trajectories/${dataset}.jsonl`);
  const said = records.map(({ id, messages }) => [id, messages.filter(({ role }) => role === "tool").at(-1)?.content]);
  return Object.fromEntries(said);
}

const TASKS = Array.from({ length: 6 }, (_, index) => ({ id: `q${index}`, city: `city ${index}` }));
const OWN = Object.fromEntries(TASKS.map(({ id }) => [id, JSON.stringify([id])]));

test("over HTTP sessions no rollout sees another's notes, and a resume brings a session back to where it was", async () => {
  const work = workFolder();
  writeQueries(work, TASKS);
  writeConfig(work, { shop: { url: await serveNotes("--sessions") } }, { max_workers: 3 });
  expect(await work.run([...RUN, "--quiet"])).toMatchObject({ code: 0, stderr: "" });
  expect(notesOf(work, "shop")).toEqual(OWN);
  expect(work.records("out/trajectories/shop.jsonl").flatMap(({ metadata }) => metadata.faults)).toEqual([]);
  // what a kill would leave after the first note of the last rollout
  const journal = work.records<{ type: string; entry?: { type: string; name?: string } }>("out/journal.jsonl");
  const noted = journal.findLastIndex(({ entry }) => entry?.type === "tool-result" && entry.name === "add");
  work.write("out/journal.jsonl", lines(journal.slice(0, noted + 1)));
  work.remove("out/trajectories/shop.jsonl");
  expect(await work.run(["resume", "out", "--quiet"])).toMatchObject({ code: 0, stderr: "" });
  expect(notesOf(work, "shop")).toEqual(OWN);
});

test("where only shared is possible and tools write, the run and the check say so, and every record is marked", async () => {
  const work = workFolder();
  writeQueries(work, TASKS);
  const url = await serveNotes();
  writeConfig(work, { shop: { url } });
  const sentence =
    'shop: MCP server "notes" gives no session ids, so all rollouts share its state; its tools write (add, reset, prepare)';
  const run = await work.run(RUN);
  expect([run.code, `${run.stdout}${run.stderr}`]).toEqual([0, expect.stringContaining(sentence)]);
  const marks = work.records("out/trajectories/shop.jsonl").map(({ metadata }) => metadata.faults);
  expect(marks).toEqual(TASKS.map(() => [{ type: "shared_state", server: "notes" }]));
  expect((await work.run(["check", "run.yml"])).stdout).toContain(sentence);
  writeConfig(work, { shop: { url, read_only: true } });
  const quiet = await work.run(["run", "--config", "run.yml", "--output-dir", "two", ...SCRIPTED]);
  expect(`${quiet.stdout}${quiet.stderr}`).not.toContain("shared_state");
  expect(work.records("two/trajectories/shop.jsonl").flatMap(({ metadata }) => metadata.faults)).toEqual([]);
});

test("a server is started with its task's fields, and is told so again on replay; a missing field is told before the run", async () => {
  const work = workFolder();
  writeQueries(work, TASKS);
  const server = {
    command: "python3",
    args: [NOTES, "--city", place("TASK.city")],
    env: { WORLD_ID: place("QUERY_ID") },
  };
  writeConfig(work, { shop: server }, { max_workers: 2 });
  work.write(
    "queries.jsonl",
    lines(
      TASKS.map(({ id, city }) => {
        const query = planQuery(id, [{ steps: [call("whoami", {})], say: "Yes." }]);
        return { ...query, task_info: { ...query.task_info, city } };
      }),
    ),
  );
  expect(await work.run([...RUN, "--quiet"])).toMatchObject({ code: 0, stderr: "" });
  for (const [id, said] of Object.entries(notesOf(work, "shop")))
    expect(JSON.parse(said ?? "")).toMatchObject({
      args: ["--city", `city ${id.slice(1)}`],
      env: { WORLD_ID: id },
      opened: { query_id: id, dataset: "shop", rollout: 0 },
    });
  expect(await work.run(["replay", "out"])).toMatchObject({ code: 0 });
  writeQueries(work, [...TASKS, { id: "bare" }]);
  const bare = await work.run(["run", "--config", "run.yml", "--output-dir", "two", ...SCRIPTED]);
  expect(bare).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`queries.jsonl:7: mcpServers.notes.args.2: query "bare" has no task_info.city`),
  });
  expect((await work.run(["check", "run.yml"])).stdout).toContain('query "bare" has no task_info.city');
  expect(work.has("two")).toBe(false);
  expect(
    await work.run(["run", "--config", "run.yml", "--output-dir", "three", "--ids", "q1", "--quiet", ...SCRIPTED]),
  ).toMatchObject({ code: 0 });
});

test.each([
  ["pool", {}],
  ["fresh", { isolation: "fresh" }],
  ["reset", { reset_tool: "reset" }],
  ["shared", { isolation: "shared" }],
])("six datasets never have more servers than workers (%s)", async (title, config) => {
  const work = workFolder();
  writeQueries(work, TASKS.slice(0, 2));
  const server = { command: "python3", args: [NOTES, "--log", join(work.path, "servers.log")], ...config };
  writeConfig(work, Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`set${index}`, server])), {
    max_workers: 2,
  });
  const { child, finished } = work.start([...RUN, "--quiet"]);
  let most = 0;
  const timer = setInterval(() => {
    const pids = work.has("servers.log") ? (work.read("servers.log").match(/(?<=pid )\d+/g) ?? []) : [];
    most = Math.max(most, pids.map(Number).filter(isRunning).length);
  }, 5);
  const { code, stderr } = await finished;
  clearInterval(timer);
  expect([code, stderr, child.exitCode]).toEqual([0, "", 0]);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
  if (title !== "shared") expect(notesOf(work, "set5")).toEqual(Object.fromEntries(Object.entries(OWN).slice(0, 2)));
});

test("many servers at once draw no warning from Node", async () => {
  const work = workFolder();
  writeQueries(
    work,
    Array.from({ length: 60 }, (_, index) => ({ id: `q${index}` })),
  );
  const reset = { command: "python3", args: [NOTES], reset_tool: "reset" };
  writeConfig(work, { reset, web: { url: await serveNotes("--sessions") } }, { max_workers: 30 });
  expect(await work.run([...RUN, "--quiet"])).toEqual({ code: 0, stdout: expect.any(String), stderr: "" });
  for (const name of ["reset", "web"]) {
    const said = notesOf(work, name);
    expect(Object.keys(said)).toHaveLength(60);
    for (const [id, notes] of Object.entries(said)) expect(notes).toBe(JSON.stringify([id]));
  }
});
