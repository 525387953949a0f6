// Loading a user's TypeScript or JavaScript file: natively if this Node can, through jiti for TypeScript on older ones.
import { readFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type Location, messageOf, UsageError } from "../core/index.ts";

export async function loadDefaultExport(file: string): Promise<unknown> {
  const module = await loadModule(file);
  if (module.default === undefined) throw new UsageError("has no default export", { file });
  return module.default;
}

export async function loadModule(file: string): Promise<{ default?: unknown }> {
  try {
    return needsTranspiling(file) ? await transpileAndImport(file) : await import(pathToFileURL(file).href);
  } catch (error) {
    const [message] = messageOf(error).trim().split(/\s*\n/);
    const location = locate(error, file) ?? (await locateSyntaxError(error, file)) ?? { file };
    throw new UsageError(`cannot be loaded: ${message}`, location);
  }
}

/** The first place in the file that the error names: engines write it into the stack, transpilers into the message. */
function locate(error: unknown, file: string): Location | undefined {
  const text = error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : "";
  const path = resolve(file);
  // some transpilers name it from where the program runs; a bare name could be another file's
  const near = relative(process.cwd(), path);
  for (const name of [path, pathToFileURL(path).href, ...(near.includes(sep) ? [near] : [])]) {
    const after = text.split(name).slice(1);
    const [, line, column] = after.map((rest) => /^:(\d+)(?::(\d+))?/.exec(rest)).find(Boolean) ?? [];
    if (line) return { file, line: Number(line), ...(column && { column: Number(column) }) };
  }
  return undefined;
}

/** Node tells only the terminal where a syntax error is: the transpiler is asked instead. */
async function locateSyntaxError(error: unknown, file: string): Promise<Location | undefined> {
  if (!(error instanceof SyntaxError)) return undefined;
  const { createJiti } = await import("jiti");
  const code = createJiti(import.meta.url).transform({ source: readFileSync(file, "utf8"), filename: file, ts: true });
  const [, line] = /__JITI_ERROR__ = .*"line":(\d+)/.exec(code) ?? [];
  return line === undefined ? undefined : { file, line: Number(line) };
}

function needsTranspiling(file: string): boolean {
  const features = process.features as { typescript?: unknown };
  return /\.[cm]?ts$/.test(file) && !features.typescript;
}

async function transpileAndImport(file: string): Promise<{ default?: unknown }> {
  const { createJiti } = await import("jiti");
  return createJiti(import.meta.url, { moduleCache: true }).import(resolve(file));
}
