// Whether a tool's schema can check anything at all.
import { type JsonObject, messageOf, toPlain } from "../core/index.ts";
import { createAjv } from "./ajv.ts";

/** Why a schema is unusable, or undefined if it is usable. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const { $schema: _dialect, $id: _id, ...rules } = toPlain(schema);
  try {
    createAjv().compile(rules);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
