// `${QUERY_ID}`, `${TASK.city}` and the like in a server's config: whom a server is started for. They are filled when it
// starts, in one pass, so that nothing inside a value is filled again. Values come from queries and are only text: an
// argument or a variable gets them as they are, without a shell; an address and a header what is safe there.
import { isObject, UsageError, type World, wellFormed, writeExact } from "../../core/index.ts";

/** Whose server it is. Without a query its tools are only looked at. */
export type ServerWorld = World & { dataset?: string };

type Place = { written: string; name: string; fallback: string | undefined };

/** Fixed text and places in turn; plain text if it has no places. */
export type Template = string | readonly (string | Place)[];

const PLACE = /\$\{(WORK_FOLDER|QUERY_ID|ROLLOUT|SEED|DATASET|TASK\.[^}:]+)(?::-([^}]*))?\}/g;
/** The same for all rollouts of a dataset. */
const CONSTANT = new Set(["WORK_FOLDER", "DATASET"]);

/** The places in a text that differ from one rollout to the next, as they are written. */
export function placesIn(text: string): string[] {
  return [...text.matchAll(PLACE)].flatMap(([written, name = ""]) => (CONSTANT.has(name) ? [] : [written]));
}

/** `fill` gets the text between the places: what a variable holds is never taken for a place. */
export function toTemplate(text: string, fill: (text: string) => string): Template {
  const parts: (string | Place)[] = [];
  let from = 0;
  for (const match of text.matchAll(PLACE)) {
    const [written, name = "", fallback] = match;
    parts.push(fill(text.slice(from, match.index)), { written, name, fallback });
    from = match.index + written.length;
  }
  if (from === 0) return fill(text);
  return [...parts, fill(text.slice(from))];
}

/** Changes the fixed text that it begins with, if it begins with any. */
export function withStart(template: Template, change: (text: string) => string): Template {
  if (typeof template === "string") return change(template);
  const [first, ...rest] = template;
  return typeof first === "string" ? [change(first), ...rest] : template;
}

type Give = (place: Place) => string;

/** What stands for the places of one world. `folder` is the server's own. */
export function valuesOf(world: ServerWorld, folder: string, where: string): Give {
  return (place) => {
    const value = place.name === "WORK_FOLDER" ? folder : (find(place.name, world) ?? place.fallback);
    if (value !== undefined) return wellFormed(value);
    if (!world.query) throw new UsageError(`${where}: ${place.written} needs a query, and there is none here`);
    const field = place.name.replace(/^TASK\./, "task_info.");
    throw new UsageError(`${where}: query "${world.query.id}" has no ${field} for ${place.written}`);
  };
}

function find(name: string, { dataset, query, rollout = 0, seed }: ServerWorld): string | undefined {
  if (name === "DATASET") return dataset;
  if (!query) return undefined;
  if (name === "QUERY_ID") return query.id;
  if (name === "ROLLOUT") return String(rollout);
  if (name === "SEED") return String(seed);
  let value: unknown = query.taskInfo;
  for (const key of name.split(".").slice(1)) {
    if (!(isObject(value) || Array.isArray(value)) || !Object.hasOwn(value, key)) return undefined;
    value = (value as { [key: string]: unknown })[key];
  }
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : writeExact(value);
}

/** For an argument, a variable or a folder. */
export function fillText(template: Template, give: Give, where: string): string {
  const text = fill(template, give);
  if (text.includes("\0")) throw new UsageError(`${where}: a program cannot be given a text with a NUL character`);
  return text;
}

/** What a header cannot hold, such as a line break or a Chinese character, is percent-encoded. */
export function fillHeader(template: Template, give: Give): string {
  return fill(template, (place) => give(place).replace(/[^\x20-\x7e]+/g, encodeURIComponent));
}

/**
 * Values are percent-encoded. One can neither lead out of the path it stands in, nor name another host: there, it is one
 * part of the name or a number.
 */
export function fillUrl(template: Template, give: Give, where: string): URL {
  const url = parseUrl(
    fill(template, (place) => encodeURIComponent(give(place))),
    where,
  );
  if (typeof template === "string") return url;
  const refuse = (place: Place, reason: string): never => {
    throw new UsageError(`${where}: ${JSON.stringify(give(place).slice(0, 100))} for ${place.written} ${reason}`);
  };
  let before = "";
  for (const part of template) {
    const isInHost = /^[^/?#]*:\/\/[^/?#]*$/.test(before);
    if (typeof part !== "string" && isInHost && !/^[A-Za-z0-9-]+$/.test(give(part)))
      refuse(part, "cannot be part of a host's name: letters, digits and hyphens can");
    before += typeof part === "string" ? part : "1";
  }
  const place = template.find((part) => typeof part !== "string") as Place;
  if (countParts(url) !== countParts(parseUrl(before, where))) refuse(place, "leads to another path");
  return url;
}

/** As its parts are before any value is known. */
export function requireUrl(template: Template, where: string): void {
  if (typeof template !== "string" && !/^[a-z]+:\/\//i.test(String(template[0])))
    throw new UsageError(`${where}: must begin with http:// or https://`);
  parseUrl(
    fill(template, () => "1"),
    where,
  );
}

function countParts({ pathname }: URL): number {
  return pathname.split("/").length;
}

function parseUrl(text: string, where: string): URL {
  if (!URL.canParse(text)) throw new UsageError(`${where}: not a URL`);
  return new URL(text);
}

function fill(template: Template, give: Give): string {
  if (typeof template === "string") return template;
  return template.map((part) => (typeof part === "string" ? part : give(part))).join("");
}
