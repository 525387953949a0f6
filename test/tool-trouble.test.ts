// Whatever a tool's code does, it ends at most its own rollout: one run of tools that misbehave in every way.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { WorkFolder } from "./support/cli.ts";
import { call, lines, planQuery } from "./support/shop-dataset.ts";

const WAIT = "new Promise((done) => setTimeout(() => done({ ok: true }), 60))";
/** For one call: more than the slowest of those that end needs on a busy machine. */
const SECONDS = 6;
const DEEP = "let r = 1; for (let i = 0; i < 20000; i++) r = [r];";

/** Calls that are answered with an error, and what it says. */
const REFUSED: { [tool: string]: [code: string, says: RegExp] } = {
  a_function: ["() => () => 1", /returned a function, which is not JSON/],
  a_symbol: ['() => Symbol("x")', /returned a symbol/],
  a_bigint: ["() => 5n", /returned a BigInt/],
  a_bigint_inside: ["() => ({ a: [1, { b: 2n }] })", /returned a BigInt as \\"a\.1\.b\\"/],
  a_function_inside: ["() => ({ f() {} })", /returned a function as \\"f\\"/],
  a_promise_inside: ["async () => ({ p: Promise.resolve(1) })", /returned a Promise as \\"p\\"/],
  a_map: ["() => ({ m: new Map() })", /returned a Map/],
  itself: ["() => { const a = {}; a.a = a; return a; }", /nested deeper than 128 levels or contains itself/],
  deep: [`() => { ${DEEP} return r; }`, /nested deeper than 128 levels/],
  many: ["() => { let r = [1]; for (let i = 0; i < 60; i++) r = [r, r]; return r; }", /more than 2000000 values/],
  writes_nothing: ["() => ({ toJSON() {} })", /writes itself as nothing/],
  writes_bigint: ["() => ({ toJSON: () => 1n })", /The tool failed: .*BigInt/],
  no_keys: ['() => new Proxy({}, { ownKeys() { throw new Error("no keys"); } })', /no keys/],
  no_then: ['() => ({ get then() { throw new Error("then!"); } })', /then!/],
  no_text: ["() => { throw { toString() { throw 1; } }; }", /something that has no text/],
  no_stack: [
    '() => { const e = new Error("x"); for (const k of ["stack", "message"]) Object.defineProperty(e, k, { get() { throw 2; } }); throw e; }',
    /The tool failed: something/,
  ],
  null_thrown: ["() => { throw null; }", /The tool failed: null/],
  row_bigint: [
    '(c) => c.table("T").insert({ t_id: "a", n: 5n })',
    /A row of T must be JSON, but its \\"n\\" is a BigInt/,
  ],
  row_function: ['(c) => c.table("T").insert({ t_id: "a", n: () => 1 })', /\\"n\\" is a function/],
  row_itself: ['(c) => { const r = { t_id: "a" }; r.r = r; c.table("T").insert(r); }', /contains itself/],
  row_deep: [`(c) => { ${DEEP} c.table("T").insert({ t_id: "a", r }); }`, /nested deeper than 128/],
  row_updated: [
    '(c) => { c.table("T").insert({ t_id: "a" }); c.table("T").update("a", { d: new Map() }); }',
    /is a Map/,
  ],
  far_too_long: ['() => "x".repeat(4e7)', /has 40000000 characters, more than/],
};

/** Calls that end their rollout, and why. */
const ENDED: { [tool: string]: [code: string, says: string] } = {
  forgotten: [
    '() => { Promise.reject(new Error("gone")); return { ok: true }; }',
    "an error outside of its calls: gone",
  ],
  forgotten_later: [
    `() => { (async () => { await null; await new Promise(setImmediate); throw new Error("late"); })(); return ${WAIT}; }`,
    "an error outside of its calls: late",
  ],
  timer: [`() => { setTimeout(() => { throw new Error("tick"); }, 5); return ${WAIT}; }`, "outside of its calls: tick"],
  timer_text: [`() => { setTimeout(() => { throw "a text"; }, 5); return ${WAIT}; }`, "outside of its calls: a text"],
  emitter: [
    `async () => { const { EventEmitter } = await import("node:events"); setImmediate(() => new EventEmitter().emit("error", new Error("emitted"))); return ${WAIT}; }`,
    "outside of its calls: emitted",
  ],
  never: ["() => new Promise(() => {})", `did not answer within ${SECONDS} s`],
  never_then: ["() => ({ then() {} })", `did not answer within ${SECONDS} s`],
};

/** Calls that are answered as ever. */
const FINE: { [tool: string]: string } = {
  fine: "() => ({ ok: true })",
  toString: "() => ({ ok: true })",
  undefined_value: "() => ({ u: undefined, n: NaN, d: new Date(0) })",
  long: '() => "x".repeat(3e6)',
  long_error: '() => { throw new Error("y".repeat(5e6)); }',
  deep_text: '() => "[".repeat(50000) + "]".repeat(50000)',
  deep_error: `() => '{"error":' + "[".repeat(50000) + "]".repeat(50000) + "}"`,
};

/** Older versions of Node cannot say whose microtask it was: then it is told, and no rollout is ended by it. */
const MICRO = `() => { queueMicrotask(() => { throw new Error("in a microtask"); }); return ${WAIT}; }`;
const KNOWS_MICROTASKS = Number.parseInt(process.versions.node, 10) >= 24;
if (KNOWS_MICROTASKS) ENDED.micro = [MICRO, "outside of its calls: in a microtask"];
else FINE.micro = MICRO;

function writeOdd(work: WorkFolder, isolation: string): void {
  const code = (entry: string | readonly [string, unknown]) => (typeof entry === "string" ? entry : entry[0]);
  const tools = Object.entries({ ...REFUSED, ...ENDED, ...FINE }).map(([name, entry]) => ({ name, code: code(entry) }));
  const writes = tools.map(({ name, code }) => `    ${name}: ${code},\n`).join("");
  work.write(
    "odd/mcp_servers/Odd.mjs",
    `export default {\n  today: "2026-02-02",\n  reads: {},\n  writes: {\n${writes}  },\n};\n`,
  );
  const spec = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } });
  work.write("odd/tool_lists/Odd.json", JSON.stringify(tools.map(({ name }) => spec(name))));
  const plan = (name: string) => [
    { steps: [call(name, {})], say: "Done." },
    { user: "And again?", steps: [call("fine", {})], say: "Yes." },
    { user: "Thanks. ###STOP###" },
  ];
  work.write("odd/queries/Odd.jsonl", lines(tools.map(({ name }) => planQuery(name, plan(name)))));
  work.write(
    "run.yml",
    `base_path: odd\nagent_model: scripted/agent\nuser_model: scripted/user\ntool_timeout: ${SECONDS}\nisolation: ${isolation}\noutput_dir: run\ndatasets: [Odd]\n`,
  );
}

describe.each(["none", "process"])("a run of tools that misbehave, isolation: %s", (isolation) => {
  let work: WorkFolder;
  let printed = "";
  let records = new Map<string, Trajectory>();
  let failures = new Map<string, { error: string; boundary: string }>();

  beforeAll(async () => {
    work = new WorkFolder(mkdtempSync(join(tmpdir(), "rollout-cli-")));
    writeOdd(work, isolation);
    const { code, stdout, stderr } = await work.run(["run", "--config", "run.yml"]);
    printed = stdout + stderr;
    expect([code, printed]).toEqual([3, expect.not.stringContaining("a bug in rollout")]);
    const read = (file: string) =>
      new Map(
        work
          .read(file)
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
          .map((record) => [record.id, record]),
      );
    [records, failures] = [read("run/trajectories/Odd.jsonl"), read("run/failures.jsonl")];
    return () => work.remove(".");
  });

  const firstResult = (id: string) => records.get(id)?.messages.find(({ role }) => role === "tool")?.content ?? "";

  test("every rollout is accounted for", () => {
    expect([...records.keys()].sort()).toEqual([...Object.keys(REFUSED), ...Object.keys(FINE)].sort());
    expect([...failures.keys()].sort()).toEqual(Object.keys(ENDED).sort());
    for (const { metadata } of records.values()) expect(metadata.stop_reason).toBe("user_stop");
  });

  test.each(Object.entries(REFUSED))("%s is an error result", (id, [, says]) => {
    expect(firstResult(id)).toMatch(says);
    expect(records.get(id)?.metadata.tool_error_count).toBe(1);
  });

  test.each(Object.entries(ENDED))("%s ends its rollout", (id, [, says]) => {
    expect(failures.get(id)).toMatchObject({ boundary: "tool", error: expect.stringContaining(`Odd.${id}`) });
    expect(failures.get(id)?.error).toContain(
      isolation === "none" ? says : says.replace(/did not answer.*/, `${SECONDS} s`),
    );
  });

  test("results are capped, whoever gave them; what cannot be blamed on a rollout is told once", () => {
    for (const id of ["long", "long_error", "deep_text"]) {
      expect(firstResult(id).length).toBeLessThan(66_000);
      expect(firstResult(id)).toContain("characters left out");
    }
    if (isolation === "none" && !KNOWS_MICROTASKS) expect(printed.match(/in a microtask/g)).toHaveLength(1);
  });

  test("what was recorded can be scored, replayed, shown, counted and exported", async () => {
    const commands = [
      ["eval", "run"],
      ["replay", "run"],
      ["report", "run"],
      ["stats", "run"],
      ["show", "run", "deep_error"],
      ["export", "run", "--format", "openai", "--out", "data", "--include-scripted", "--all"],
    ];
    for (const command of isolation === "none" ? commands : commands.slice(0, 2)) {
      const { code, stdout, stderr } = await work.run(command);
      expect([command, code, stdout + stderr]).toEqual([command, 0, expect.not.stringContaining("a bug in rollout")]);
    }
  }, 60_000);
});
