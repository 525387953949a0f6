// The simulated user's scenario, from the parts that a task describes it in.
import { isObject, type Json, type JsonObject, writeExact } from "../../core/index.ts";

const HEADINGS: { [part: string]: string } = {
  persona: "Who you are",
  domain: "The service that you talk to",
  reason_for_call: "Why you are calling",
  known_info: "What you know",
  unknown_info: "What you do not know",
  task_instructions: "How you go about it",
  instructions: "What you are here for",
};

export function describeScenario(scenario: JsonObject): string {
  const { instructions = null, ...person } = scenario;
  const parts: JsonObject = {
    ...person,
    ...(isObject(instructions) ? (instructions as JsonObject) : { instructions }),
  };
  const known = Object.keys(HEADINGS).filter((part) => part in parts);
  const others = Object.keys(parts).filter((part) => !(part in HEADINGS));
  return [...known, ...others]
    .filter((part) => parts[part] !== null && parts[part] !== undefined && parts[part] !== "")
    .map((part) => `## ${HEADINGS[part] ?? part.replaceAll("_", " ")}\n\n${textOf(parts[part] as Json)}`)
    .join("\n\n");
}

function textOf(value: Json): string {
  return typeof value === "string" ? value.trim() : writeExact(value);
}
