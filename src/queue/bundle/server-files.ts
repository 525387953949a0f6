// The files that an MCP server's command, arguments, folder and variables name. As they are written they shape the
// fingerprint, so they stay; where a worker finds them stands next to them, in `here`.
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../core/index.ts";
import type { McpServersConfig } from "../../tools/index.ts";
import { type FileReference, NODE, type ProgramReference } from "./bundle.ts";
import type { CodeFiles } from "./code-files.ts";
import { type FileSet, isWithin, realPath } from "./file-set.ts";

type Server = McpServersConfig[string];
type Text = string | FileReference | ProgramReference;
/** A server's launch as it is sent. */
export type SentLaunch = { command?: Text; args?: Text[]; cwd?: Text; env?: { [name: string]: Text } };

export const PROGRAM_FOLDER = fileURLToPath(new URL("../../../", import.meta.url));

export type ServerFilesOptions = {
  files: FileSet;
  code: CodeFiles;
  /** what relative paths are relative to */
  base: string;
  note(text: string): void;
};

/** Collects the files; undefined for a server that is only reached. A path stays absolute until all files are known. */
export function findLaunch(name: string, server: Server, options: ServerFilesOptions): SentLaunch | undefined {
  const { command, args = [], cwd, env = {} } = server;
  if (command === undefined) return undefined;
  const find = (text: string, where: string) => findPath(text, `mcpServers.${name}.${where}`, options);
  return {
    command: findCommand(command, `mcpServers.${name}.command`, options),
    args: args.map((text, index) => find(text, `args.${index}`)),
    ...(cwd !== undefined && { cwd: findFolder(cwd, `mcpServers.${name}.cwd`, options) }),
    env: Object.fromEntries(Object.entries(env).map(([key, text]) => [key, findVariable(text, options)])),
  };
}

/** Programs that are installed, not sent. */
const INTERPRETER =
  /^(?:python|pypy|node|deno|bun|ruby|perl|java|php|dotnet|docker|podman|uvx?|npx|sh|bash|zsh|env)[\d.]*$/;

function findCommand(text: string, where: string, options: ServerFilesOptions): Text {
  if (text === process.execPath) return { $program: NODE };
  const path = pathIn(text, options.base);
  if (path === undefined) return text;
  // an interpreter of a virtual environment is nothing without the rest of it
  if (INTERPRETER.test(basename(path))) return path;
  return findPath(text, where, options);
}

/** The path that a text begins with, as servers are given it: `./…`, `../…` or `/…`. */
function pathIn(text: string, base: string): string | undefined {
  if (isAbsolute(text)) return text;
  return /^\.\.?\//.test(text) ? resolve(base, text) : undefined;
}

function findPath(text: string, where: string, options: ServerFilesOptions): Text {
  const [, before = "", rest = text] = /^(--?[\w-]+=)(\/.*)$/s.exec(text) ?? [];
  const variable = rest.indexOf("${");
  const fixed = variable === -1 ? rest : rest.slice(0, rest.lastIndexOf("/", variable) + 1);
  const path = fixed === "" ? undefined : pathIn(fixed, options.base);
  if (path === undefined) return text;
  const own = ownFile(path);
  if (own && before === "" && fixed === rest) return own;
  if (!send(path, where, options)) return text;
  const after = rest.slice(fixed.length);
  return { $file: resolve(path), ...(before && { before }), ...(after && { after: `/${after}` }) };
}

/** The program's own command, which is on every worker. */
function ownFile(path: string): ProgramReference | undefined {
  const real = realPath(path);
  const isOwn = ["bin", "dist"].some((part) => isWithin(real, realPath(join(PROGRAM_FOLDER, part))));
  return isOwn ? { $program: real.slice(realPath(PROGRAM_FOLDER).length).replace(/^\//, "") } : undefined;
}

function send(path: string, where: string, { files, code, base, note }: ServerFilesOptions): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return false;
  if (stats.isDirectory()) {
    if (isWithin(resolve(path), base) && resolve(path) !== base) return sweep(path, files, code);
    note(`${where}: the folder ${path} is not sent: each worker needs its own`);
    return false;
  }
  if (!stats.isFile() || (isBinary(path) && !isWithin(resolve(path), base))) return false;
  files.addNamed(path);
  code.follow([path], isWithin(resolve(path), base) ? base : dirname(path));
  return true;
}

function findFolder(text: string, where: string, options: ServerFilesOptions): Text {
  if (text.startsWith("${")) return text;
  const path = resolve(options.base, text);
  if (path === dirname(path)) throw new UsageError(`${where}: the folder ${path} cannot be sent to workers`);
  return sweep(path, options.files, options.code) ? { $file: path } : text;
}

/** Only what lies in the working folder: other paths mean something on every machine. */
function findVariable(text: string, { files, code, base }: ServerFilesOptions): Text {
  if (!isAbsolute(text) || !isWithin(text, base)) return text;
  const stats = statSync(text, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return sweep(text, files, code) ? { $file: resolve(text) } : text;
  if (!stats?.isFile()) return text;
  files.addNamed(text);
  return { $file: resolve(text) };
}

function sweep(path: string, files: FileSet, code: CodeFiles): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  files.allow(path);
  code.follow(files.sweep(path), path);
  return true;
}

function isBinary(path: string): boolean {
  return readFileSync(path).subarray(0, 8192).includes(0);
}
