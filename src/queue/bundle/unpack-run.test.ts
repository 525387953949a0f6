import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/play.ts";
import { resolveConfig } from "../../config/index.ts";
import { FileCache } from "./file-cache.ts";
import {
  BadBundleError,
  type BundleFile,
  LackingError,
  type PackedRun,
  packRun,
  type RunBundle,
  unpackRun,
} from "./index.ts";

const sha = (text: string) => createHash("sha256").update(text).digest("hex");
const file = (path: string, text: string, mode = 0o444): BundleFile => ({
  path,
  hash: sha(text),
  mode,
  size: text.length,
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 100) yield Buffer.from(text.slice(at, at + 100));
}

function serve(...texts: string[]) {
  const fetched: string[] = [];
  const fetchFile = (hash: string) => {
    fetched.push(hash);
    return pieces(texts.find((text) => sha(text) === hash) ?? "something else");
  };
  return { fetched, fetchFile };
}

function bundleOf(files: BundleFile[], more: Partial<RunBundle> = {}): RunBundle {
  return { name: "x", spec: { config: {}, folder: "x", datasets: [], registry: {} }, files, needs: [], ...more };
}

const HOSTILE_PATHS = [
  ...["../escape", "run/../../escape", "/etc/escape", "run//escape", "run/./escape", "", "run/", "escape", "run/a\0b"],
  ...["run\\..\\..\\escape", "C:\\escape", "run/..", "..", "RUN/../x", "files/x"],
];

test.each(HOSTILE_PATHS)("a bundle with the path %j is refused, and nothing is written", async (path) => {
  const folder = temporaryFolder();
  const { fetchFile, fetched } = serve("x");
  const options = { cache: join(folder, "cache"), env: {}, fetchFile };
  await expect(unpackRun(bundleOf([file("run/a", "x"), file(path, "x")]), options)).rejects.toThrow(BadBundleError);
  expect(fetched).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["a path as it is", { queryFiles: ["/etc/passwd"] }],
  ["a reference that leads up", { queryFiles: [{ $file: "run/../../../etc/passwd" }] }],
  ["an absolute reference", { queryFiles: [{ $file: "/etc/passwd" }] }],
  ["another program", { mcpServers: { a: { command: "x", here: { command: { $program: "../../../bin/sh" } } } } }],
  ["a server's file that leads up", { mcpServers: { a: { command: "x", here: { args: [{ $file: "run/../.." }] } } } }],
])("settings with %s are refused", async (_, dataset) => {
  const domain = {
    name: "x",
    servers: [],
    queryFiles: [],
    toolListFiles: {},
    serverFiles: {},
    tableFolders: [],
    missing: [],
  };
  const spec = {
    config: {},
    folder: "x",
    datasets: [{ name: "x", domain, queryFiles: [], otherDomains: [], ...dataset }],
  };
  const bundle = bundleOf([file("run/a", "x")], { spec: spec as never });
  const options = { cache: temporaryFolder(), env: {}, ...serve("x") };
  await expect(unpackRun(bundle, options)).rejects.toThrow(BadBundleError);
});

test.each([
  ["twice the same path", [file("run/a", "x"), file("run/a", "y")]],
  ["a file that is a folder, too", [file("run/a", "x"), file("run/a/b", "x")]],
  ["a hash that is a path", [{ ...file("run/a", "x"), hash: "../../../../etc/passwd" }]],
  ["no hash", [{ path: "run/a", mode: 0, size: 1 } as BundleFile]],
])("%s is refused", async (_, files) => {
  const options = { cache: temporaryFolder(), env: {}, ...serve("x", "y") };
  await expect(unpackRun(bundleOf(files), options)).rejects.toThrow(BadBundleError);
});

test("a link that somebody left in the cache is replaced, not written through", async () => {
  const [cache, target, outside] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  writeFileSync(join(outside, "victim"), "mine");
  mkdirSync(join(target, "run"), { recursive: true });
  symlinkSync(outside, join(target, "run", "folder"));
  symlinkSync(join(outside, "victim"), join(target, "run", "file"));
  const { fetchFile } = serve("new");
  await new FileCache(cache, fetchFile).lay([file("run/folder/victim", "new"), file("run/file", "new")], target);
  expect(readFileSync(join(outside, "victim"), "utf8")).toBe("mine");
  expect(readdirSync(outside)).toEqual(["victim"]);
  for (const path of ["run/folder/victim", "run/file"]) expect(readFileSync(join(target, path), "utf8")).toBe("new");
});

test("bytes that are not what their hash says never get a name", async () => {
  const [cache, target] = [temporaryFolder(), temporaryFolder()];
  const { fetchFile } = serve();
  await expect(new FileCache(cache, fetchFile).lay([file("run/a", "x")], target)).rejects.toThrow(BadBundleError);
  const left = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(left).toEqual([]);
});

test("a file is fetched once for all runs; a damaged one is fetched again, wherever the damage is", async () => {
  const cache = temporaryFolder();
  const { fetchFile, fetched } = serve("one", "two");
  const files = [file("run/a", "one"), file("run/deep/b", "one"), file("run/c", "two", 0o555)];
  const lay = (target: string, list = files) => new FileCache(cache, fetchFile).lay(list, join(cache, "runs", target));
  const read = (path: string) => readFileSync(join(cache, "runs", path), "utf8");
  await lay("1");
  await lay("2", files.slice(0, 1));
  await lay("1");
  expect(fetched.sort()).toEqual([sha("one"), sha("two")].sort());
  expect(statSync(join(cache, "runs/1/run/a")).ino).toBe(statSync(join(cache, "runs/2/run/a")).ino);
  expect(statSync(join(cache, "runs/1/run/c")).mode & 0o777).toBe(0o555);
  expect(statSync(join(cache, "runs/1/run/a")).mode & 0o777).toBe(0o444);

  const stored = join(cache, "files", sha("one").slice(0, 2), sha("one"));
  rmSync(stored);
  writeFileSync(stored, "on");
  rmSync(join(cache, "runs/1/run/deep/b"));
  writeFileSync(join(cache, "runs/1/run/deep/b"), "oneoneone");
  await lay("1");
  expect([read("1/run/a"), read("1/run/deep/b"), readFileSync(stored, "utf8")]).toEqual(["one", "one", "one"]);
  expect(fetched).toHaveLength(3);

  writeFileSync(join(cache, "runs/1/run/extra"), ""); // somebody's bytecode is nobody's business
  rmSync(stored);
  linkSync(join(cache, "runs/1/run/extra"), stored);
  await lay("1");
  expect(readFileSync(stored, "utf8")).toBe("one");
});

test("several workers unpack into one cache at once", async () => {
  const cache = temporaryFolder();
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index} `.repeat(50));
  const files = texts.flatMap((text, index) => [file(`run/${index}/a`, text), file(`run/${index}/b`, text, 0o555)]);
  const { fetchFile } = serve(...texts);
  const runs = await Promise.all(
    Array.from({ length: 5 }, () => unpackRun(bundleOf(files), { cache, env: {}, fetchFile })),
  );
  const [folder = ""] = readdirSync(join(cache, "runs"));
  expect(new Set(runs.map((run) => run.folder)).size).toBe(1);
  for (const [index, text] of texts.entries())
    for (const name of ["a", "b"])
      expect(readFileSync(join(cache, "runs", folder, "run", String(index), name), "utf8")).toBe(text);
  const names = readdirSync(cache, { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.endsWith(".new"))).toEqual([]);
});

test("what killed workers left half-fetched is removed after a day", async () => {
  const cache = temporaryFolder();
  const folder = join(cache, "files", sha("x").slice(0, 2));
  mkdirSync(folder, { recursive: true });
  for (const name of ["old.new", "young.new"]) writeFileSync(join(folder, name), "x");
  utimesSync(join(folder, "old.new"), 0, 0);
  await new FileCache(cache, serve("x").fetchFile).lay([file("run/a", "x")], join(cache, "runs", "1"));
  expect(readdirSync(folder).sort()).toEqual([sha("x"), "young.new"].sort());
});

test("a worker that lacks variables says which, before it fetches anything", async () => {
  const cache = join(temporaryFolder(), "cache");
  const { fetchFile, fetched } = serve("x");
  const bundle = bundleOf([file("run/a", "x")], { name: "night", needs: ["A_KEY", "B|C", "D", "E|F"] });
  const env = { C: "c", D: "", E: "e" };
  await expect(unpackRun(bundle, { cache, env, fetchFile })).rejects.toThrow(
    new LackingError("Run night needs A_KEY, D, which this worker's environment lacks: it takes no work of that run"),
  );
  expect(fetched).toEqual([]);
  expect(existsSync(cache)).toBe(false);
  await expect(unpackRun({ ...bundle, needs: ["X|Y"] }, { cache, env, fetchFile })).rejects.toThrow(
    "needs X or Y, which",
  );
});

test("an interpreter that is named by its path must be on the worker, too", async () => {
  const run = resolveConfig(
    { bundled: true, datasets: ["StudentHealthServices"], python: "/nowhere/venv" },
    { folder: "x" },
  );
  const { read, ...bundle }: PackedRun = await packRun(run, {});
  await expect(unpackRun(bundle, { cache: temporaryFolder(), env: {}, fetchFile: read })).rejects.toThrow(
    new LackingError(
      "Run x needs Python at /nowhere/venv (--python), which this machine lacks: it takes no work of that run",
    ),
  );
});

test("a cache that cannot be written is named", async () => {
  const cache = join(temporaryFolder(), "file");
  writeFileSync(cache, "");
  await expect(unpackRun(bundleOf([file("run/a", "x")]), { cache, env: {}, ...serve("x") })).rejects.toThrow(
    /^The cache folder .*file.* cannot be written .*: give --cache another one$/,
  );
});
