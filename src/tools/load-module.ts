// Loading a user's TypeScript or JavaScript file: natively if this Node can, through jiti for TypeScript on older ones.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf, UsageError } from "../core/index.ts";

export async function loadDefaultExport(file: string): Promise<unknown> {
  let module: { default?: unknown };
  try {
    module = needsTranspiling(file) ? await transpileAndImport(file) : await import(pathToFileURL(file).href);
  } catch (error) {
    throw new UsageError(`cannot be loaded: ${messageOf(error)}`, { file });
  }
  if (module.default === undefined) throw new UsageError("has no default export", { file });
  return module.default;
}

function needsTranspiling(file: string): boolean {
  const features = process.features as { typescript?: unknown };
  return /\.[cm]?ts$/.test(file) && !features.typescript;
}

async function transpileAndImport(file: string): Promise<{ default?: unknown }> {
  const { createJiti } = await import("jiti");
  return createJiti(import.meta.url, { moduleCache: true }).import(resolve(file));
}
