// Small words for documents and questions: dates, lists, file names, and one of several ways to say something.
import { createRandom } from "../../src/core/index.ts";
import type { Day } from "./world.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");

export function writeDay({ year, month, day }: Day): string {
  return `${day} ${MONTHS[month - 1]} ${year}`;
}

/** The file of the document about something. */
export function fileOf(title: string): string {
  const words =
    title
      .toLowerCase()
      .replaceAll("'", "")
      .match(/[a-z]+/g) ?? [];
  return `${words.join("-")}.md`;
}

/** Always the same way for the same thing. */
export function say(about: string, ...ways: string[]): string {
  return createRandom("research wording", about, ways[0] ?? "").pick(ways);
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export function listed(things: readonly { name: string }[], before = ""): string {
  const all = things.map(({ name }) => before + name);
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

export function surnameOf({ name }: { name: string }): string {
  return name.slice(name.indexOf(" ") + 1);
}
