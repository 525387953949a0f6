// What the questions are made with: choosing what to ask about, and the hops of a search for each kind of thing.
import { createRandom } from "../../src/core/index.ts";
import type { Hop, Question } from "./plans.ts";
import { fileOf } from "./wording.ts";
import { type Ship, shuffle } from "./world.ts";

/** What all questions of a kind ask, and how many of them there are. */
type Kind<T> = { id: string; count?: number; from: readonly T[]; ask(about: T): Omit<Question, "id"> };

export function ask<T>({ id, count = 2, from, ask }: Kind<T>): Question[] {
  const chosen = shuffle(createRandom("research question", id), from).slice(0, count);
  if (chosen.length < count) throw new Error(`there are only ${chosen.length} things to ask ${id} about`);
  return chosen.map((about, index) => ({ id: `${id}-${"abc"[index]}`, ...ask(about) }));
}

/** A search for something by its name and what is wanted of it. */
export function on({ name }: { name: string }, wanted: string): Hop {
  return [`${name} ${wanted}`, fileOf(name)];
}

export function onShip({ name }: Ship, wanted: string): Hop {
  return [`ship ${name} ${wanted}`, fileOf(`The ${name}`)];
}
