// A schema's type in a few words: for `--help`, for errors, for the tables of the docs.
import { z } from "zod";

type JsonSchema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
};

/** Such as "a whole number of at least 1". */
export function describeType(schema: z.ZodType): string {
  return describe(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);
}

function describe(schema: JsonSchema): string {
  if (schema.anyOf) {
    const kinds = schema.anyOf.filter(({ type }) => type !== "null").map(describe);
    return [...new Set(kinds)].join(" or ");
  }
  if (schema.enum) return schema.enum.map(String).join(", ");
  if (schema.const !== undefined) return String(schema.const);
  switch (schema.type) {
    case "integer":
      return `a whole number${describeRange(schema, 1)}`;
    case "number":
      return `a number${describeRange(schema, 0)}`;
    case "boolean":
      return "true or false";
    case "array":
      return "a list";
    case "object":
      return "a mapping";
    default:
      return "text";
  }
}

/** `step`: by how much a value must exceed an exclusive minimum; 0 if any amount will do. */
function describeRange({ minimum, exclusiveMinimum, maximum }: JsonSchema, step: number): string {
  const upTo = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? "" : ` and at most ${maximum}`;
  if (exclusiveMinimum !== undefined)
    return step > 0 ? ` of at least ${exclusiveMinimum + step}${upTo}` : ` above ${exclusiveMinimum}${upTo}`;
  return minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? "" : ` of at least ${minimum}${upTo}`;
}
