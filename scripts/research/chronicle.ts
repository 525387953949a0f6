// One document that is longer than a page: what happened in the harbours, year by year.
import { createRandom } from "../../src/core/index.ts";
import { listed } from "./wording.ts";
import { shuffle, type World } from "./world.ts";

const FIRST = 1840;
const LAST = 1937;

/** Which town's harbour got its crane in which year; each town once. */
export function listCranes(world: World): { year: number; town: World["towns"][number] }[] {
  const step = Math.floor((LAST - FIRST) / world.towns.length);
  const towns = shuffle(createRandom("research cranes"), world.towns);
  return towns.map((town, index) => ({ year: FIRST + 1 + index * step, town }));
}

export function writeChronicle(world: World): string[] {
  const random = createRandom("research chronicle");
  const cranes = listCranes(world);
  const harbour = () => random.pick(world.towns).name;
  const news = [
    () => `Herring was scarce in ${harbour()}, and the price of salt fell.`,
    () => `The pilots of ${listed(shuffle(random, world.towns).slice(0, 2))} agreed on common signals.`,
    () => `A storm in the autumn sank ${2 + random.int(9)} boats off ${harbour()}.`,
    () => `The customs house of ${harbour()} got a new roof.`,
    () => `Dredging began in ${harbour()} and was given up after ${3 + random.int(20)} weeks.`,
    () => `${harbour()} counted ${200 + random.int(2000)} arrivals, more than in any year before.`,
  ];
  const years = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);
  return [
    "What the harbour masters wrote down, year by year, shortened.",
    ...years.map((year) => {
      const crane = cranes.find((one) => one.year === year);
      const entries = [random.pick(news)(), random.pick(news)()];
      if (crane) entries.push(`The harbour of ${crane.town.name} got its first steam crane.`);
      return `**${year}.** ${entries.join(" ")}`;
    }),
  ];
}
