import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { UsageError } from "../core/index.ts";
import { DatasetFolder, openDatasetFolder } from "./folder.ts";

const root = mkdtempSync(join(tmpdir(), "rollout-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder of empty files; a path that ends in `/` is an empty folder. */
function folderOf(name: string, files: string[]): string {
  const base = join(root, name);
  for (const file of files) {
    const path = join(base, file);
    mkdirSync(file.endsWith("/") ? path : dirname(path), { recursive: true });
    if (!file.endsWith("/")) writeFileSync(path, "");
  }
  return base;
}

const server = (name: string) => [`mcp_servers/${name}.ts`, `tool_lists/${name}.json`];
const single = [...server("Library"), ...server("CampusNavigatorMCP"), "queries/Library.jsonl", "policies/Library.md"];

describe("where a dataset folder is", () => {
  test.each(["single_domain", "single domain"])("beside the other kind, in %s", (inner) => {
    const base = folderOf(`outputs ${inner}`, [
      ...single.map((file) => `${inner}/${file}`),
      `${inner.replace("single", "cross")}/queries/Library_Museum.jsonl`,
    ]);
    expect(openDatasetFolder(base, "single").path).toBe(join(base, inner));
    expect(openDatasetFolder(base, "cross").path).toBe(join(base, inner.replace("single", "cross")));
    expect(openDatasetFolder(join(base, inner), "single").serverNames()).toEqual(["CampusNavigatorMCP", "Library"]);
  });

  test("is the folder itself where it holds the parts", () => {
    const base = folderOf("direct", single);
    expect(openDatasetFolder(base, "single").path).toBe(base);
    expect(openDatasetFolder(base, "cross").path).toBe(base);
  });

  test("a folder without any of the parts, a file, or nothing at all is refused", () => {
    const base = folderOf("empty", ["notes/", "file.txt"]);
    const open = (path: string) => () => openDatasetFolder(path, "single");
    expect(open(base)).toThrow(
      new UsageError(`${base} is not a dataset folder: it has none of queries, tool_lists, mcp_servers`),
    );
    expect(open(join(base, "file.txt"))).toThrow("is a file, not a folder");
    expect(open(join(base, "nowhere"))).toThrow(`There is no folder ${join(base, "nowhere")}`);
  });

  test("queries and policies may be elsewhere", () => {
    const base = folderOf("split", server("Library"));
    const other = folderOf("elsewhere", ["q/Library.jsonl", "p/Library.md"]);
    const folder = new DatasetFolder(base, { queryDir: join(other, "q"), policyDir: join(other, "p") });
    expect(folder.find(["Library"])).toMatchObject({
      queryFiles: [join(other, "q/Library.jsonl")],
      policyFile: join(other, "p/Library.md"),
      missing: [],
    });
    expect(() => new DatasetFolder(base, { queryDir: join(other, "x") })).toThrow("There is no folder");
  });
});

describe("domains of a folder", () => {
  const base = folderOf("domains", [
    ...single,
    ...server("Museum"),
    "mcp_servers/_shared.ts",
    "mcp_servers/Library.test.ts",
    "mcp_servers/Library.d.ts",
    "queries/museum/b.jsonl",
    "queries/museum/a.jsonl",
    "queries/Museum.jsonl",
    "queries/readme.txt",
    "queries/Orphan.jsonl",
    "queries/Library_Museum.jsonl",
  ]);
  const folder = new DatasetFolder(base);

  test("are those with a server or with queries, sorted, each with what it lacks", () => {
    expect(folder.list("single").map(({ name, missing }) => [name, missing])).toEqual([
      ["CampusNavigatorMCP", ["policies/CampusNavigatorMCP.md", "queries/CampusNavigatorMCP.jsonl"]],
      ["Library", []],
      ["Museum", ["policies/Museum.md"]],
      ["Orphan", ["tool_lists/Orphan.json", "mcp_servers/Orphan", "policies/Orphan.md"]],
    ]);
  });

  test("are found in snake case, and a wrong name is answered with the nearest", () => {
    expect(folder.find(["campus_navigator_mcp"]).name).toBe("CampusNavigatorMCP");
    expect(() => folder.find(["Libary"])).toThrow('There is no domain "Libary"; did you mean "Library"? There are: ');
  });

  test("read all their query files, in order", () => {
    const files = folder.find(["Museum"]).queryFiles.map((file) => relative(join(base, "queries"), file));
    expect(files).toEqual(["Museum.jsonl", "museum/a.jsonl", "museum/b.jsonl"]);
  });

  test("may have their queries in a file named in snake case", () => {
    const snake = folderOf("snake", [...server("CampusNavigatorMCP"), "queries/campus_navigator_mcp.jsonl"]);
    const [domain] = new DatasetFolder(snake).list("single");
    expect(domain).toMatchObject({ name: "CampusNavigatorMCP", servers: ["CampusNavigatorMCP"] });
    expect(domain?.queryFiles).toHaveLength(1);
    expect(new DatasetFolder(snake).list("cross")).toEqual([]);
  });

  test("prefer TypeScript to JavaScript and that to Python", () => {
    const several = folderOf(
      "several",
      ["Library.py", "Library.js", "Library.ts", "Museum.py", "Museum.mjs", "Zoo.py"].map(
        (file) => `mcp_servers/${file}`,
      ),
    );
    const { serverFiles } = new DatasetFolder(several).find(["Library", "Museum", "Zoo"]);
    expect(Object.values(serverFiles).map((file) => relative(several, file))).toEqual([
      "mcp_servers/Library.ts",
      "mcp_servers/Museum.mjs",
      "mcp_servers/Zoo.py",
    ]);
  });
});

describe("combinations of a folder", () => {
  const base = folderOf("cross", [
    ...["Alpha", "Beta", "Gamma"].flatMap(server),
    "queries/Beta_Alpha.jsonl",
    "queries/Alpha_Beta/more.jsonl",
    "queries/Gamma_Alpha_Beta/1.jsonl",
    "queries/Gamma_Alpha_Beta/2.jsonl",
    "queries/Alpha.jsonl",
    "policies/Alpha_Beta.md",
    "policies/Beta_Gamma_Alpha.md",
    "database/outputs/entities/Shared.json",
    "database/outputs/entities/Alpha_Beta/Thing.json",
    "database/outputs/relationships/Beta_Alpha/Link.json",
    "database/outputs/relationships/Gamma/Only.json",
  ]);
  const folder = new DatasetFolder(base);
  const inside = (files: (string | undefined)[]) => files.map((file) => file && relative(base, file));

  test("are sets: queries, policy and database are found whatever order each has its names in", () => {
    const [two, three, ...rest] = folder.list("cross");
    expect(rest).toEqual([]);
    expect(inside(two?.queryFiles ?? [])).toEqual(["queries/Beta_Alpha.jsonl", "queries/Alpha_Beta/more.jsonl"]);
    expect(inside([two?.policyFile, three?.policyFile])).toEqual([
      "policies/Alpha_Beta.md",
      "policies/Beta_Gamma_Alpha.md",
    ]);
    expect(inside(two?.tableFolders ?? [])).toEqual([
      "database/outputs/entities/Alpha_Beta",
      "database/outputs/relationships/Beta_Alpha",
    ]);
    expect(inside(three?.queryFiles ?? [])).toEqual([
      "queries/Gamma_Alpha_Beta/1.jsonl",
      "queries/Gamma_Alpha_Beta/2.jsonl",
    ]);
  });

  test("are the same whether listed or asked for, in any order and spelling", () => {
    const [two] = folder.list("cross");
    for (const names of [
      ["Alpha", "Beta"],
      ["Beta", "Alpha"],
      ["beta_mcp", "ALPHA", "Beta"],
    ])
      expect(folder.find(names)).toEqual(two);
    expect(folder.find(["Gamma", "Beta"])).toEqual(folder.find(["Beta", "Gamma"]));
  });

  test("without a database of their own use the shared tables and their servers' relationships", () => {
    expect(inside(folder.find(["Gamma", "Beta"]).tableFolders)).toEqual([
      "database/outputs/entities",
      "database/outputs/relationships/Gamma",
    ]);
  });

  test("a single domain is none of them", () => {
    expect(folder.list("single").map(({ name }) => name)).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(inside(folder.find(["Alpha"]).queryFiles)).toEqual(["queries/Alpha.jsonl"]);
  });
});
