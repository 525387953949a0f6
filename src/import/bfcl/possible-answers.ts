// Possible answers, where each argument has a list of values that are right; the empty text says that it may be left
// out. A plan says one: the first, and nothing where nothing is right.
import { canonicalJson, isObject, type Json, type JsonObject, type PlanCall } from "../../core/index.ts";
import { toolName } from "../tool-schema.ts";

export type ChosenAnswer = {
  calls: PlanCall[];
  /** some argument had other values that are right too */
  hasAlternatives: boolean;
};

export function chooseAnswer(groundTruth: JsonObject[]): ChosenAnswer {
  const seen = { alternatives: false };
  const calls = groundTruth.flatMap((truth) =>
    Object.entries(truth).map(([name, args]) => ({
      name: toolName(name),
      arguments: chooseMembers(args as JsonObject, seen),
    })),
  );
  return { calls, hasAlternatives: seen.alternatives };
}

type Seen = { alternatives: boolean };

function chooseMembers(members: JsonObject, seen: Seen): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, values]): [string, Json][] => {
      const list = Array.isArray(values) ? values : [values];
      if (new Set(list.map(fold)).size > 1) seen.alternatives = true;
      const [first] = list;
      return list.includes("") || first === undefined ? [] : [[name, chooseInside(first, seen)]];
    }),
  );
}

/** Objects have lists of values again, one for each member. */
function chooseInside(value: Json, seen: Seen): Json {
  if (Array.isArray(value)) return value.map((item) => chooseInside(item, seen));
  const isNested = isObject(value) && Object.values(value).every(Array.isArray);
  return isNested ? chooseMembers(value as JsonObject, seen) : value;
}

/** Values that a check of calls takes for the same. */
function fold(value: Json): string {
  return typeof value === "string" ? value.trim().toLowerCase() : canonicalJson(value);
}
