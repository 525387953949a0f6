import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Config, resolveConfig } from "../src/config/index.ts";
import type { Trajectory } from "../src/core/index.ts";
import { checkFolder, openResources } from "../src/domains/index.ts";
import { makeRollouts } from "../src/runner/index.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";

const scripted = { agent_model: "scripted/agent", user_model: "scripted/user" };

function datasetFolder(queries?: number): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-python-dataset-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writePythonDataset(folder, queries === undefined ? {} : { queries });
  return folder;
}

async function run(folder: string, config: Config): Promise<{ [dataset: string]: Trajectory[] }> {
  const resolved = resolveConfig({ ...scripted, base_path: folder, ...config }, { folder: join(folder, "run") });
  const result = await makeRollouts(resolved, { env: process.env });
  const read = (file: string) =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Trajectory);
  return Object.fromEntries(Object.entries(result.outputs).map(([name, file]) => [name, read(file)]));
}

const results = (trajectory: Trajectory) =>
  trajectory.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));

describe.runIf(await havePython())("a dropped-in Python dataset", () => {
  test("runs as it stands, each rollout on a state of its own", async () => {
    const folder = datasetFolder(6);
    const { SlotDesk = [] } = await run(folder, { datasets: ["SlotDesk"], max_workers: 6 });
    expect(SlotDesk).toHaveLength(6);
    for (const trajectory of SlotDesk) {
      expect(trajectory.metadata).toMatchObject({ stop_reason: "user_stop", tool_error_count: 0, tool_call_count: 4 });
      const [authorised, preview, booked, listed] = results(trajectory);
      expect(authorised).toBe('{"success": true}');
      expect(preview).toContain("needs_confirmation");
      expect(JSON.parse(listed as string).bookings).toHaveLength(1); // writes of other rollouts are not seen
      expect(booked).toContain('"price": 1.0, "reference": 9007199254740993'); // as Python wrote it
    }
    expect(new Set(SlotDesk.map((trajectory) => trajectory.metadata.final_state_hash)).size).toBe(6);
  });

  test("generates the same ids when it is run again", async () => {
    const first = await run(datasetFolder(), { datasets: ["SlotDesk"] });
    const second = await run(datasetFolder(), { datasets: ["SlotDesk"], max_workers: 1 });
    const texts = (runs: typeof first) =>
      (runs.SlotDesk ?? []).map((trajectory) => [trajectory.id, results(trajectory)]).sort();
    expect(texts(second)).toEqual(texts(first));
  });

  test("a combination is found in any order, shares its tables, and is told its database's name", async () => {
    const folder = datasetFolder(4);
    const { desk = [] } = await run(folder, { datasets: { desk: { tools: ["door_keeper_mcp", "slot_desk"] } } });
    expect(desk.map((trajectory) => trajectory.id).sort()).toEqual(["door-0", "door-1", "door-2", "door-3"]);
    for (const trajectory of desk) {
      expect(trajectory.metadata).toMatchObject({ stop_reason: "user_stop", tool_error_count: 0 });
      const [, , opened, counted] = results(trajectory);
      expect(JSON.parse(opened as string)).toMatchObject({ success: true, told: "DoorKeeperMCP_SlotDesk" });
      expect(JSON.parse(counted as string)).toEqual({ count: 1 });
      const names = trajectory.messages
        .flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))
        .map((call) => call.function.name);
      expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name) && name.includes("__"))).toBe(true);
    }
  });

  test("trouble injected on purpose is tagged in the record, and equal on every run", async () => {
    const faults = { rates: { error: 0.3, rate_limit: 0.2 } };
    const first = await run(datasetFolder(8), { datasets: ["SlotDesk"], faults });
    const tagged = (runs: typeof first) =>
      (runs.SlotDesk ?? []).map((trajectory) => [trajectory.id, trajectory.metadata.faults]).sort();
    expect(JSON.stringify(tagged(first))).toMatch(/injected/);
    expect(tagged(await run(datasetFolder(8), { datasets: ["SlotDesk"], faults, max_workers: 2 }))).toEqual(
      tagged(first),
    );
  });

  test("check reads the whole folder and finds nothing but the repeated query", async () => {
    const folder = datasetFolder();
    const resources = openResources({ env: process.env, nameStyle: "prefixed", onNotice: () => {} });
    try {
      const report = await checkFolder(folder, resources);
      expect(report.findings.filter((finding) => finding.level === "error")).toEqual([]);
      expect(report.findings.map((finding) => finding.message)).toContain(
        "SlotDesk_DoorKeeperMCP: 1 repeated queries are read once",
      );
    } finally {
      await resources.close();
    }
  });

  test("check names every broken place at once and exits with 2", () => {
    const folder = datasetFolder();
    const at = (path: string) => join(folder, "single domain", path);
    writeFileSync(
      at("queries/SlotDesk.jsonl"),
      '{"id": "a", "messages": []}\n{"id": \n{"id": "b", "messages": [{"role": "user", "content": 1}]}\n',
    );
    writeFileSync(at("database/outputs/entities/Member.json"), '[{"member_id": "m1"}, {"member_id": "m1"}, 3]');
    writeFileSync(at("mcp_servers/DoorKeeperMCP.py"), "class Other:\n    pass\n");
    const checked = spawnCheck(folder);
    expect(checked.code).toBe(2);
    for (const expected of [
      /SlotDesk\.jsonl:1: .*opening user message/,
      /SlotDesk\.jsonl:2:\d+: .*not valid JSON/,
      /SlotDesk\.jsonl:3: .*messages\[0\]/,
      /Member\.json: a table must be a list/,
      /DoorKeeperMCP\.py.*DoorKeeperMCPServer/,
    ]) {
      expect(checked.text).toMatch(expected);
    }
    const json = spawnCheck(folder, "--json");
    expect(json.code).toBe(2);
    const { errors, warnings, findings } = JSON.parse(json.text);
    expect(errors + warnings).toBe(findings.length);
    expect(findings).toContainEqual({
      level: "error",
      message: expect.stringContaining("not valid JSON"),
      location: { file: expect.stringMatching(/SlotDesk\.jsonl$/), line: 2, column: expect.any(Number) },
    });
  });
});

function spawnCheck(folder: string, ...flags: string[]): { code: number; text: string } {
  try {
    const text = execFileSync(process.execPath, ["bin/rollout.js", "check", folder, ...flags], { encoding: "utf8" });
    return { code: 0, text };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, text: stdout };
  }
}
