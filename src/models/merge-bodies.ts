// What the registry and the config add to request bodies.
import { isObject, type JsonObject } from "../core/index.ts";

/** Later bodies over earlier ones, one level deep. */
export function mergeBodies(...bodies: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  for (const body of bodies) {
    for (const [name, value] of Object.entries(body)) {
      const before = merged[name];
      merged[name] = isObject(before) && isObject(value) ? ({ ...before, ...value } as JsonObject) : value;
    }
  }
  return merged;
}
