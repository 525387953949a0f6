// What CI asks of everything that users install with the package.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("../scripts/check-licences.mjs", import.meta.url));

type Package = { manifest?: object; lock?: object; files?: string[] };

/** A project that depends on these packages; the check's exit code and what it complains about. */
function check(packages: { [path: string]: Package }, notice?: string): { code: number | null; complaints: string[] } {
  const root = mkdtempSync(join(tmpdir(), "rollout-licences-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const locked: { [path: string]: object } = { "": { name: "project" } };
  for (const [path, { manifest, lock = {}, files = [] }] of Object.entries(packages)) {
    locked[path] = { version: "1.0.0", ...lock };
    if (!manifest) continue;
    mkdirSync(join(root, path), { recursive: true });
    const name = path.split("node_modules/").at(-1);
    writeFileSync(join(root, path, "package.json"), JSON.stringify({ name, version: "1.0.0", ...manifest }));
    for (const file of files) writeFileSync(join(root, path, file), "");
  }
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages: locked }));
  if (notice !== undefined) writeFileSync(join(root, "NOTICE"), notice);
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, root], { encoding: "utf8" });
  return { code: status, complaints: stderr.split("\n").filter(Boolean) };
}

test("everything that this package brings along is under a licence of the list, and NOTICE names what it must", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  expect(Number(/^(\d+) packages/.exec(stdout)?.[1])).toBeGreaterThan(50);
});

test.each([
  [
    "a licence that is not in the list",
    { license: "GPL-3.0-only" },
    /^bad@1\.0\.0 .*is under GPL-3\.0-only, which is not in/,
  ],
  ["one that is no SPDX name", { license: "SEE LICENSE IN LICENSE.txt" }, /^bad@1\.0\.0 .*is under SEE LICENSE/],
  ["none at all", {}, /^bad@1\.0\.0 .*names no licence$/],
  ["an empty one", { license: " " }, /names no licence$/],
  ["only half of what is needed", { license: "(MIT AND (GPL-2.0 OR AGPL-3.0))" }, /is under \(MIT AND/],
  ["an exception that nobody looked at", { license: "Apache-2.0 WITH LLVM-exception" }, /WITH LLVM-exception/],
  ["an old field", { licenses: [{ type: "WTFPL" }] }, /is under WTFPL/],
])("a dependency of a dependency with %s fails by its name", (_, manifest, expected) => {
  const { code, complaints } = check({
    "node_modules/good": { manifest: { license: "MIT" } },
    "node_modules/good/node_modules/bad": { manifest },
  });
  expect(code).toBe(1);
  expect(complaints).toEqual([expect.stringMatching(expected)]);
});

test("what is only for developers, or not for this machine, is not asked; a choice is enough; a gap is named", () => {
  const fine = {
    "node_modules/tool": { manifest: { license: "GPL-3.0-only" }, lock: { dev: true } },
    "node_modules/native": { lock: { optional: true } },
    "node_modules/choice": { manifest: { license: "(AFL-2.1 OR (MIT AND ISC))" } },
    "node_modules/@old/form": { manifest: { license: { type: "BSD-3-Clause" } } },
  };
  expect(check(fine)).toEqual({ code: 0, complaints: [] });
  const { code, complaints } = check({ ...fine, "node_modules/gone": {} });
  expect([code, complaints]).toEqual([1, ["node_modules/gone is not installed: run npm ci"]]);
});

test("an Apache package that brings a NOTICE has to be named in ours", () => {
  const packages = { "node_modules/@a/b": { manifest: { license: "Apache-2.0" }, files: ["NOTICE.txt"] } };
  expect(check(packages)).toEqual({ code: 1, complaints: ["NOTICE does not name @a/b"] });
  expect(check(packages, "It ships @a/b-other.")).toMatchObject({ code: 1 });
  expect(check(packages, "It ships @a/b (Apache License 2.0).")).toEqual({ code: 0, complaints: [] });
});
