// Replaying runs of every kind: what was recorded is found again, and whatever was changed since is found too.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Config, resolveConfig } from "../src/config/index.ts";
import type { Trajectory } from "../src/core/index.ts";
import { bundledFolder } from "../src/domains/index.ts";
import { replayRun, runRollouts } from "../src/index.ts";
import { makeRollouts, type RunResult } from "../src/runner/index.ts";
import { WorkFolder } from "./support/cli.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";
import { itemQuery, lines, writeShop } from "./support/shop-dataset.ts";

const DOMAIN = "StudentAcademicPortal";
const OTHER = "StudentFinancialServices";
const PAIR = `${DOMAIN}_${OTHER}`;
const PYTHON = await havePython();
const scripted: Config = { agent_model: "scripted/agent?skill=0.5", user_model: "scripted/user" };

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-replay-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function play(config: Config, folder = join(temporary(), "run")): Promise<RunResult> {
  const result = await makeRollouts(resolveConfig({ ...scripted, ...config }, { folder }), { env: process.env });
  expect(result).toMatchObject({ failed: 0, left: 0 });
  return result;
}

const replay = (folder: string, options: Partial<Parameters<typeof replayRun>[0]> = {}) =>
  replayRun({ folder, env: process.env, ...options });

const ALL_AGREE = { differ: 0, trusted: 0, unreachable: 0, left: 0 };

function read(file: string | undefined): Trajectory[] {
  const text = readFileSync(file as string, "utf8").trim();
  return text.split("\n").map((line) => JSON.parse(line) as Trajectory);
}

function edit(file: string | undefined, change: (records: Trajectory[]) => void): void {
  const records = read(file);
  change(records);
  writeFileSync(file as string, lines(records));
}

describe("a run whose tools are as they were", () => {
  test.each(["positive", "wrong_tool", "no_tool"] as const)("agrees in mode %s", async (mode) => {
    const { folder, outputs } = await play({ bundled: true, datasets: [DOMAIN, OTHER, PAIR], mode, rollouts: 2 });
    const records = Object.values(outputs).flatMap(read);
    const made = records.reduce((sum, { metadata }) => sum + metadata.tool_call_count, 0);
    expect(await replay(folder)).toEqual({
      folder,
      records: { ...ALL_AGREE, agree: records.length },
      calls: { made, trusted: 0 },
      differences: [],
      first: undefined,
      notices: [],
    });
    expect(made > 0).toBe(mode !== "no_tool");
  });

  test("agrees with faults injected on purpose, also those of earlier settings", async () => {
    const run = join(temporary(), "run");
    const first = { rates: { truncated: 0.2, error: 0.2 } };
    const config = { bundled: true, datasets: [DOMAIN], limit: 6 };
    await play({ ...config, faults: first }, run);
    const more = { ...config, limit: 12, faults: { rates: { timeout: 0.3 } }, allow_drift: true };
    const { folder, outputs } = await play(more, run);
    const injected = read(outputs[DOMAIN]).flatMap(({ metadata }) => metadata.faults.map(({ trouble }) => trouble));
    expect(injected).toEqual(expect.arrayContaining(["truncated", "error", "timeout"]));
    expect((await replay(folder)).records).toEqual({ ...ALL_AGREE, agree: 12 });
  });

  test("agrees where datasets were added by later commands", async () => {
    const run = join(temporary(), "run");
    await play({ bundled: true, datasets: [DOMAIN], limit: 2 }, run);
    await play({ bundled: true, datasets: [OTHER], limit: 3 }, run);
    expect((await replay(run)).records).toEqual({ ...ALL_AGREE, agree: 5 });
    expect((await replay(run, { datasets: [OTHER] })).records.agree).toBe(3);
  });

  test("agrees for plain questions, which have no tools", async () => {
    const folder = temporary();
    const work = new WorkFolder(folder);
    work.write("questions.jsonl", lines([itemQuery("q1"), itemQuery("q2")]));
    const questions = { path: join(folder, "questions.jsonl"), tools: [] };
    const run = await play({ datasets: { questions }, max_turns: 1 }, join(folder, "run"));
    expect((await replay(run.folder)).records).toEqual({ ...ALL_AGREE, agree: 2 });
  });

  test.runIf(PYTHON)("agrees for servers in Python, alone and combined", async () => {
    const folder = temporary();
    writePythonDataset(folder);
    const datasets = ["SlotDesk", "SlotDesk_DoorKeeperMCP"];
    const run = await play({ agent_model: "scripted/agent", base_path: folder, datasets }, join(folder, "run"));
    expect(await replay(run.folder)).toMatchObject({ records: { ...ALL_AGREE, agree: 6 }, calls: { made: 24 } });
  });
});

describe("MCP servers", () => {
  const PROGRAM = resolve("bin/rollout.js");
  const path = bundledFolder().find([DOMAIN]).queryFiles[0] as string;
  const stdio = { command: process.execPath, args: [PROGRAM, "mcp", "serve", DOMAIN] };
  // a key that the run folder does not keep: a replay asks no model
  const models = { mine: { provider: "openai", api_key: "written-here" } };
  const over = (portal: NonNullable<Config["mcpServers"]>[string]) =>
    play({ agent_model: "scripted/agent", models, datasets: { portal: { path } }, mcpServers: { portal }, limit: 2 });

  test("of a rollout's own are asked again", async () => {
    const { folder, outputs } = await over({ ...stdio, isolation: "fresh" });
    const replayed = await replay(folder, { maxWorkers: 2 });
    expect(replayed).toMatchObject({ records: { ...ALL_AGREE, agree: 2 }, calls: { trusted: 0 }, notices: [] });
    expect(replayed.calls.made).toBeGreaterThan(2);
    edit(outputs.portal, ([record]) => editResult(record as Trajectory, 0, (text) => `${text} `));
    expect(await replay(folder)).toMatchObject({
      records: { agree: 1, differ: 1 },
      first: { kind: "result", call: 1 },
    });
  });

  test("that are shared are trusted, never asked again and never said to agree", async () => {
    const { folder, outputs } = await over({ ...stdio, isolation: "shared" });
    edit(outputs.portal, ([record]) => editResult(record as Trajectory, 0, (text) => `${text} `));
    const calls = read(outputs.portal).reduce((sum, { metadata }) => sum + metadata.tool_call_count, 0);
    expect(await replay(folder)).toMatchObject({
      records: { ...ALL_AGREE, agree: 0, trusted: 2 },
      calls: { made: 0, trusted: calls },
      differences: [],
    });
  });

  test("that are gone leave the records unexecuted, with the reason", async () => {
    const server = spawn(process.execPath, [PROGRAM, "mcp", "serve", DOMAIN, "--http", "0"]);
    const url = await new Promise<string>((found) => {
      server.stderr.on("data", (text) => {
        const match = /http:\/\/\S+/.exec(String(text))?.[0];
        if (match) found(match);
      });
    });
    const { folder } = await over({ url, isolation: "fresh" });
    server.kill();
    await new Promise((gone) => server.once("exit", gone));
    expect(await replay(folder)).toMatchObject({
      records: { agree: 0, differ: 0, unreachable: 2 },
      differences: [{ dataset: "portal", kind: "unreachable", count: 2 }],
      first: { kind: "unreachable", reason: expect.stringContaining("portal") },
    });
  });
});

describe("what changed since is found", () => {
  test("a result, whichever character of whichever call was edited", async () => {
    const { folder, outputs } = await play({ bundled: true, datasets: [DOMAIN], limit: 8 });
    const file = outputs[DOMAIN] as string;
    const before = read(file);
    const places = before.flatMap(({ id, messages }) =>
      messages.flatMap(({ role, content }, at) => (role === "tool" && content !== "" ? [{ id, at, content }] : [])),
    );
    const place = fc
      .constantFrom(...places)
      .chain(({ id, at, content }) =>
        fc.record({ id: fc.constant(id), at: fc.constant(at), index: fc.nat({ max: content.length - 1 }) }),
      );
    await fc.assert(
      fc.asyncProperty(place, async ({ id, at, index }) => {
        const records = structuredClone(before);
        const messages = records.find((record) => record.id === id)?.messages ?? [];
        const message = messages[at] as Trajectory["messages"][number];
        const swapped = message.content[index] === "~" ? "-" : "~";
        message.content = message.content.slice(0, index) + swapped + message.content.slice(index + 1);
        writeFileSync(file, lines(records));
        const call = messages.slice(0, at + 1).filter(({ role }) => role === "tool").length;
        const { records: counts, differences, first } = await replay(folder);
        expect(counts).toEqual({ ...ALL_AGREE, agree: before.length - 1, differ: 1 });
        expect(differences).toEqual([{ dataset: DOMAIN, kind: "result", count: 1 }]);
        expect(first).toMatchObject({ id, kind: "result", call, recorded: { content: message.content } });
      }),
      { numRuns: 20 },
    );
  });

  test("a final state's hash, and whether a result is an error; the first is the first in the file", async () => {
    const { folder, outputs } = await play({ bundled: true, datasets: [DOMAIN], limit: 3 });
    edit(outputs[DOMAIN], ([, second, third]) => {
      (second as Trajectory).metadata.final_state_hash = "0000000000000000";
      const { metadata, messages } = third as Trajectory;
      const answered = messages.find(({ role }) => role === "tool") as { tool_call_id: string };
      metadata.tool_errors.push(answered.tool_call_id);
    });
    const { id } = read(outputs[DOMAIN])[1] as Trajectory;
    expect(await replay(folder)).toMatchObject({
      records: { agree: 1, differ: 2 },
      differences: [
        { dataset: DOMAIN, kind: "result", count: 1 },
        { dataset: DOMAIN, kind: "state", count: 1 },
      ],
      first: { id, kind: "state", recorded: "0000000000000000", now: expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
  });

  test("a dataset folder: it is said that it changed, and what differs because of it", async () => {
    const folder = temporary();
    const work = new WorkFolder(folder);
    writeShop(work);
    const datasets = ["Domain1", "Domain1_Domain2"];
    await play({ base_path: join(folder, "shop"), datasets }, join(folder, "run"));
    const server = "shop/mcp_servers/Domain2.mjs";
    work.write(server, work.read(server).replace("price: 7", "price: 8"));
    // a module is loaded once per process, so the changed one needs another
    const { code, stdout, stderr } = await work.run(["replay", "run"]);
    expect([code, stderr]).toEqual([3, "Domain1_Domain2: the domain's tools, data or code changed since the run\n"]);
    expect(stdout).toMatch(/^run: 5 records, \d+ calls made again: 3 agree; 2 differ\n/);
    expect(stdout).toContain('recorded   {"item_id":"item-lamp","price":7}');
    expect(stdout).toContain('now        {"item_id":"item-lamp","price":8}');
    expect(stdout).toMatch(/Domain1_Domain2 +results differ +2/);
  });

  test("a query that is gone leaves its records unexecuted", async () => {
    const folder = temporary();
    const work = new WorkFolder(folder);
    writeShop(work);
    const run = await runRollouts({
      config: { ...scripted, base_path: join(folder, "shop"), datasets: ["Domain1"], output_dir: join(folder, "run") },
    });
    work.write("shop/queries/Domain1.jsonl", lines([itemQuery("q1"), itemQuery("q3")]));
    expect(await replay(run.folder)).toMatchObject({
      records: { agree: 2, unreachable: 1 },
      first: { id: "q2", kind: "unreachable", reason: "the query q2 is no longer in the dataset" },
    });
  });
});

function editResult({ messages }: Trajectory, number: number, change: (text: string) => string): void {
  const message = messages.filter(({ role }) => role === "tool")[number];
  if (message) message.content = change(message.content);
}
