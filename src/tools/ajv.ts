// The schema checker, loaded on first use: most commands never check an argument.
import { createRequire } from "node:module";
import type { Ajv } from "ajv";

/** Unknown keywords and formats are ignored: users' schemas are written for models, not for checkers. */
export function createAjv(): Ajv {
  const loaded = createRequire(import.meta.url)("ajv") as { Ajv: typeof Ajv };
  return new loaded.Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
}
