// The files that an MCP server's command, arguments, folder and variables name. As they are written they shape the
// fingerprint, so they stay; where a worker finds them stands next to them, in `here`.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../core/index.ts";
import type { McpServersConfig } from "../../tools/index.ts";
import { type FileReference, NODE, type ProgramReference } from "./bundle.ts";
import type { CodeFiles } from "./code-files.ts";
import { type FileSet, isWithin, realPath, settlePath } from "./file-set.ts";

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
  const sent = send(path, where, options);
  if (sent === undefined) return text;
  const after = rest.slice(fixed.length);
  return { $file: sent, ...(before && { before }), ...(after && { after: `/${after}` }) };
}

/** The program's own command, which is on every worker. */
function ownFile(path: string): ProgramReference | undefined {
  const real = realPath(path);
  const isOwn = ["bin", "dist"].some((part) => isWithin(real, realPath(join(PROGRAM_FOLDER, part))));
  return isOwn ? { $program: real.slice(realPath(PROGRAM_FOLDER).length).replace(/^\//, "") } : undefined;
}

/** Where it is, if it is sent. */
function send(written: string, where: string, options: ServerFilesOptions): string | undefined {
  const { files, code, base, note } = options;
  const stats = statSync(written, { throwIfNoEntry: false });
  const isNear = isWithin(resolve(written), base);
  if (stats?.isDirectory()) {
    if (isNear && resolve(written) !== base) return sweep(written, options);
    note(`${where}: the folder ${written} is not sent: each worker needs its own`);
  }
  if (!stats?.isFile() || (isBinary(written) && !isNear)) return undefined;
  const path = settlePath(written);
  files.addNamed(path);
  code.follow([path], isWithin(path, base) ? base : dirname(path));
  return path;
}

function findFolder(text: string, where: string, options: ServerFilesOptions): Text {
  if (text.startsWith("${")) return text;
  const path = resolve(options.base, text);
  if (path === dirname(path)) throw new UsageError(`${where}: the folder ${path} cannot be sent to workers`);
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? { $file: sweep(path, options) } : text;
}

/** Only what lies in the working folder: other paths mean something on every machine. */
function findVariable(text: string, options: ServerFilesOptions): Text {
  if (!isAbsolute(text) || !isWithin(text, options.base)) return text;
  const stats = statSync(text, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { $file: sweep(text, options) };
  if (!stats?.isFile()) return text;
  options.files.addNamed(settlePath(text));
  return { $file: settlePath(text) };
}

function sweep(folder: string, { files, code }: ServerFilesOptions): string {
  const path = settlePath(folder);
  files.allow(path);
  code.follow(files.sweep(path), path);
  return path;
}

function isBinary(path: string): boolean {
  const descriptor = openSync(path, "r");
  try {
    const head = Buffer.alloc(8192);
    return head.subarray(0, readSync(descriptor, head, 0, head.length, 0)).includes(0);
  } finally {
    closeSync(descriptor);
  }
}
