// Real processes: what an uncaught error does to one cannot be seen from within a test.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

function run(code: string) {
  const module = fileURLToPath(new URL("./stray-errors.ts", import.meta.url));
  const file = join(folder, "program.ts");
  const tool = join(folder, "tool.mjs");
  writeFileSync(
    tool,
    "export const later = (what) => setTimeout(() => { throw what; }, 5);\nexport const make = (text) => new Error(text);\n",
  );
  writeFileSync(
    file,
    `import { callAs, watchStrays } from ${JSON.stringify(module)};
    import { later, make } from ${JSON.stringify(tool)};
    const said: string[] = [];
    const open = { tool: "A.b", fail: (error: Error) => (said.push("failed " + error.message), true) };
    const over = { tool: "A.b", fail: () => false };
    const watch = watchStrays([${JSON.stringify(tool)}], (note) => said.push("note " + note));
    void make; void later; void open; void over; void callAs;
    ${code}
    setTimeout(() => { watch.close(); console.log(JSON.stringify([said, process.listenerCount("uncaughtException")])); }, 60);`,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", file], { encoding: "utf8" });
  return { status, said: stdout === "" ? undefined : JSON.parse(stdout), stderr };
}

test("a tool's stray error fails its caller; one whose caller is over is told once", () => {
  const { status, said } = run(`
    callAs(open, () => later(new Error("one")));
    callAs(open, () => void Promise.reject("two"));
    callAs(over, () => later(new Error("three")));
    callAs(over, () => later(new Error("four")));`);
  expect([status, said]).toEqual([
    0,
    [
      [
        "failed A.b: an error outside of its calls: two",
        "failed A.b: an error outside of its calls: one",
        "note A.b: an error outside of its calls: three (no rollout was ended by it)",
      ],
      0,
    ],
  ]);
});

test("a tool that starts nothing changes nothing for those that do, before or after it", () => {
  const { status, said } = run(`
    callAs(over, () => 1);
    callAs(open, () => queueMicrotask(() => later(new Error("one, of a microtask's timer"))));
    callAs(over, () => 2);
    const nested = async () => { await null; await null; throw new Error("two, of a promise"); };
    callAs(open, () => void nested());
    callAs(over, () => 3);`);
  expect(status).toBe(0);
  expect(said[0].toSorted()).toEqual([
    "failed A.b: an error outside of its calls: one, of a microtask's timer",
    "failed A.b: an error outside of its calls: two, of a promise",
  ]);
});

test("without a caller, the tool's file in the stack, or no stack at all, says whose it is", () => {
  expect(run(`later(make("at load"));`)).toMatchObject({
    status: 0,
    said: [[expect.stringContaining("note A tool")], 0],
  });
  expect(run(`later("just a text");`)).toMatchObject({
    status: 0,
    said: [[expect.stringContaining("note A tool")], 0],
  });
});

test.each([
  ["thrown", `setTimeout(() => { throw new TypeError("our own"); }, 5);`],
  ["rejected", `setTimeout(() => void Promise.reject(new TypeError("our own")), 5);`],
])("what is not a tool's crashes the program as ever (%s)", (_, code) => {
  const { status, said, stderr } = run(code);
  expect([status, said]).toEqual([1, undefined]);
  expect(stderr).toContain("TypeError: our own");
});
