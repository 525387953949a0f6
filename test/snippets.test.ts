// Every TypeScript snippet of the documentation compiles under `strict`, against the types that the package ships.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const pages = ["README.md", "README_zh.md", ...["docs", "docs/zh"].flatMap(pagesIn)];

function pagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** A snippet that begins with a member of an object is one of a server's `writes`. */
function toModule(code: string): string {
  if (!/^\w+:/.test(code)) return `${code}\nexport {};\n`;
  return `import type { DomainServer, ToolContext } from "agent-rollout";\nexport const writes: DomainServer["writes"] = {\n${code}};\n`;
}

const snippets = new Map<string, string>();
for (const page of pages) {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```$/gm)];
  for (const [index, [, code = ""]] of blocks.entries())
    snippets.set(resolve(`${page.replaceAll("/", "-")}.${index + 1}.ts`), toModule(code));
}

function compile(files: ReadonlyMap<string, string>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    paths: { rollout: [resolve("dist/index.d.ts")] },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = files.get(name);
    return text === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName ?? "?"}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}

test("every TypeScript snippet of the documentation compiles under strict", () => {
  expect(snippets.size).toBeGreaterThanOrEqual(6);
  expect(compile(snippets)).toEqual([]);
});

test("a snippet with a mistake would be found", () => {
  const wrong = 'import { runRollouts } from "agent-rollout";\nawait runRollouts({ confg: {} });\n';
  expect(compile(new Map([[resolve("wrong.ts"), wrong]])).join()).toMatch(/wrong\.ts: .*confg/);
});
