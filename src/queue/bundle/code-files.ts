// What code needs besides its own file: whatever it names of the files and folders next to it, and the packages that it
// imports. Code can compute a name, so this is a search for words, not a proof: what is named is sent.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { parseJson } from "../../core/index.ts";
import { type FileSet, isWithin } from "./file-set.ts";
import { addPackage, findPackage } from "./packages.ts";

const CODE = /\.(?:py|[cm]?[jt]sx?|sh|rb|pl|lua)$/;
const SCRIPT = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = ["", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", ".py"];
/** Our own, which every worker has. */
export const PROGRAM_PACKAGE = "agent-rollout";
/** Code that is longer was made by a program, and carries what it needs. */
const MAX_BYTES = 4e6;

export class CodeFiles {
  readonly #files: FileSet;
  readonly #read = new Set<string>();
  readonly #packages = new Set<string>();

  constructor(files: FileSet) {
    this.#files = files;
  }

  /** What these files need, and what that needs in turn. Nothing outside of `base` is taken, unless it is imported. */
  follow(paths: readonly string[], base: string): void {
    const waiting = [...paths];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (this.#read.has(resolve(path))) continue;
      this.#read.add(resolve(path));
      const text = readCode(path);
      if (text === undefined) continue;
      const isScript = SCRIPT.test(path);
      const manifest = isScript ? this.#addManifest(path) : undefined;
      const imported = isScript ? listImports(text) : [];
      for (const name of imported) if (!/^[./#]/.test(name)) this.#addPackage(name, path);
      for (const name of imported) if (manifest && name.startsWith("#")) waiting.push(...this.#takeOwn(name, manifest));
      for (const found of imported.flatMap((name) => (/^\.\.?\//.test(name) ? findFile(path, name) : [])))
        waiting.push(...this.#takeImported(found));
      const said = isScript ? text.replace(IMPORTED, "") : text;
      for (const found of listMentioned(path, said, base)) waiting.push(...this.#files.take(found));
    }
  }

  /** An import is no guess: it is followed wherever it leads. */
  #takeImported(path: string): string[] {
    if (this.#files.has(path)) return [path];
    this.#files.addNamed(path);
    return [path];
  }

  /** What a package's own name (`#name`) stands for, in each of its forms. */
  #takeOwn(name: string, manifest: string): string[] {
    const { imports } = (parseJson(readFileSync(manifest, "utf8")) ?? {}) as { imports?: { [name: string]: unknown } };
    const forms = JSON.stringify(imports?.[name] ?? null).match(/"\.\/[^"*]+"/g) ?? [];
    return forms.flatMap((form) => findFile(manifest, JSON.parse(form))).flatMap((file) => this.#takeImported(file));
  }

  /** Whether a `.js` file is a module is written in the nearest package.json. */
  #addManifest(path: string): string | undefined {
    for (let folder = dirname(resolve(path)); folder !== dirname(folder); folder = dirname(folder)) {
      const manifest = join(folder, "package.json");
      if (!isFile(manifest)) continue;
      this.#files.addNamed(manifest);
      return manifest;
    }
    return undefined;
  }

  #addPackage(specifier: string, importer: string): void {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    if (isBuiltin(specifier) || name === PROGRAM_PACKAGE) return;
    const folder = findPackage(name, dirname(resolve(importer)));
    if (folder !== undefined) addPackage(folder, this.#files, this.#packages);
  }
}

/** A user's own, not a package's. */
export function isCode(path: string): boolean {
  return CODE.test(path) && !path.includes("node_modules");
}

/** Undefined if it is no code. */
function readCode(path: string): string | undefined {
  const { size } = statSync(path);
  if (size > MAX_BYTES) return undefined;
  if (CODE.test(path)) return readFileSync(path, "utf8");
  if (extname(path) !== "") return undefined;
  const text = readFileSync(path, "utf8");
  return text.startsWith("#!") ? text : undefined;
}

const IMPORTED = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'])([^"'\n]+)\1/g;

/** Without those of types only, which are gone when the code runs. */
function listImports(text: string): string[] {
  const running = text.replace(/\b(?:import|export)\s+type\b[^;"']*from\s*["'][^"']+["']/g, "");
  return [...new Set([...running.matchAll(IMPORTED)].map(([, , name = ""]) => name))];
}

/** The file that a relative import means; TypeScript may say `.js` for `.ts`. */
function findFile(importer: string, name: string): string[] {
  const path = resolve(dirname(importer), name);
  const bases = [path, path.replace(/\.([cm]?)js$/, ".$1ts"), join(path, "index")];
  const found = bases.flatMap((base) => EXTENSIONS.map((extension) => `${base}${extension}`)).find(isFile);
  return found === undefined ? [] : [found];
}

/** Entries of the code's own folder, and of those above it if it looks there, that its texts name. */
function listMentioned(path: string, text: string, base: string): string[] {
  const said = listSaid(path, text);
  const isNamed = (name: string) => said.has(name) || (CODE.test(name) && said.has(name.replace(/\.\w+$/, "")));
  return listFolders(resolve(path), text, base).flatMap((folder) =>
    readdirSync(folder)
      .filter(isNamed)
      .map((name) => join(folder, name)),
  );
}

const TEXT = /"([^"\n]*)"|'([^'\n]*)'|`([^`]*)`/g;
const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(?:\(([^)]*)\)|([^\n#]+))/gm;

/** The parts of paths in what is quoted, and what Python imports; of a shell's scripts every word. */
function listSaid(path: string, text: string): Set<string> {
  const isPython = path.endsWith(".py");
  if (!isPython && !SCRIPT.test(path)) return new Set(text.split(/[\s"'`=():;,/\\]+/));
  const code = isPython ? text.replace(/"""[\s\S]*?"""|'''[\s\S]*?'''/g, "") : text;
  const quoted = [...code.matchAll(TEXT)].flatMap(([, a, b, c]) => (a ?? b ?? c ?? "").split(/[/\\]/));
  const imported = isPython ? [...code.matchAll(PYTHON_IMPORT)].flatMap(([all]) => all.split(/\W+/)) : [];
  return new Set([...quoted, ...imported]);
}

const LOOKS_UP = /\.\.|\bparents?\b|dirname\W+(?:\w+\W+)*?dirname/;
const MAX_LEVELS = 3;

function listFolders(path: string, text: string, base: string): string[] {
  const folders = [dirname(path)];
  if (!LOOKS_UP.test(text)) return folders;
  for (let folder = dirname(dirname(path)); folders.length <= MAX_LEVELS; folder = dirname(folder)) {
    if (!isWithin(folder, resolve(base)) || folders.includes(folder)) break;
    folders.push(folder);
  }
  return folders;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
