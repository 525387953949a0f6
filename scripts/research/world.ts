// Who and what there is in the made-up country, and how it hangs together. The same on every call.
import { createRandom, type Random } from "../../src/core/index.ts";
import * as names from "./names.ts";
import { surnameOf } from "./wording.ts";

export type Day = { year: number; month: number; day: number };
export type Town = {
  name: string;
  formerly?: string;
  river: string;
  district: string;
  founded: number;
  people: number;
};
type Trade = "architect" | "captain" | "merchant" | "writer" | "painter" | "explorer";
export type Person = {
  name: string;
  trade: Trade;
  born: Day;
  birthplace: Town;
  school: string;
  teacher?: Person;
};
type Industry = "shipyard" | "builders" | "bank" | "mill" | "instruments";
export type Company = {
  name: string;
  industry: Industry;
  founded: number;
  founder: Person;
  seat: Town;
  hands: number;
  bought?: { by: Company; on: Day };
};
export type Building = {
  name: string;
  kind: "bridge" | "lighthouse" | "theatre" | "town hall";
  town: Town;
  architect: Person;
  builder: Company;
  opened: Day;
  /** A bridge's length and a lighthouse's height in metres, a theatre's seats, a town hall's rooms. */
  size: number;
};
export type Ship = { name: string; yard: Company; captain: Person; launched: Day; metres: number; museum?: Museum };
type Museum = { name: string; town: Town; opened: number };
export type Expedition = { name: string; leader: Person; ship: Ship; sponsor: Company; left: Day; crew: number };
export type Work = { name: string; kind: "novel" | "painting"; by: Person; year: number; town: Town };
type Prize = { name: string; school: string; given: { year: number; to: Person }[] };
export type Disaster = { kind: "fire" | "flood"; town: Town; on: Day; houses: number };
export type World = {
  towns: Town[];
  people: Person[];
  companies: Company[];
  buildings: Building[];
  ships: Ship[];
  museums: Museum[];
  expeditions: Expedition[];
  works: Work[];
  prizes: Prize[];
  disasters: Disaster[];
};

export function makeWorld(): World {
  const random = createRandom("research world");
  const towns = makeTowns(random);
  const people = makePeople(random, towns);
  const of = (trade: Trade) => people.filter((person) => person.trade === trade);
  const companies = makeCompanies(random, towns, of("merchant"));
  const museums = shuffle(random, towns)
    .slice(0, 12)
    .map((town) => ({ name: `${town.name} Museum`, town, opened: year(random, 1890, 1965) }));
  const ships = makeShips(random, companies, of("captain"), museums);
  return {
    towns,
    people,
    companies,
    museums,
    ships,
    buildings: makeBuildings(random, towns, companies, of("architect")),
    expeditions: makeExpeditions(random, ships, companies, of("explorer")),
    works: makeWorks(random, towns, of("writer"), of("painter")),
    prizes: makePrizes(random, people),
    disasters: shuffle(random, towns).flatMap((town, index) => makeDisasters(random, town, index)),
  };
}

function makeTowns(random: Random): Town[] {
  const renamed = shuffle(random, names.TOWNS).slice(0, names.FORMER_NAMES.length);
  return names.TOWNS.map((name) => ({
    name,
    formerly: names.FORMER_NAMES[renamed.indexOf(name)],
    river: random.pick(names.RIVERS),
    district: random.pick(names.DISTRICTS),
    founded: year(random, 1120, 1680),
    people: 4000 + random.int(90_000),
  }));
}

const TRADES: [Trade, number][] = [
  ["architect", 14],
  ["captain", 20],
  ["merchant", 32],
  ["writer", 12],
  ["painter", 10],
  ["explorer", 12],
];

function makePeople(random: Random, towns: Town[]): Person[] {
  const count = TRADES.reduce((sum, [, number]) => sum + number, 0);
  const last = [...shuffle(random, names.LAST_NAMES), ...shuffle(random, names.LAST_NAMES)].slice(0, count);
  const first = [...names.FIRST_NAMES, ...names.FIRST_NAMES, ...names.FIRST_NAMES];
  const people: Person[] = [];
  for (const trade of TRADES.flatMap(([name, number]) => Array<Trade>(number).fill(name))) {
    const born = day(random, 1822, 1899);
    const teachers = people.filter((other) => other.trade === trade && born.year - other.born.year > 12);
    people.push({
      name: `${first[people.length]} ${last[people.length]}`,
      trade,
      born,
      birthplace: random.pick(towns),
      school: random.pick(names.SCHOOLS),
      teacher: teachers.length > 0 ? random.pick(teachers) : undefined,
    });
  }
  return people;
}

const INDUSTRIES: [Industry, number, string[]][] = [
  ["shipyard", 7, ["Yard", "Shipbuilding Works"]],
  ["builders", 7, ["& Sons, Builders", "Construction Company"]],
  ["bank", 6, ["Bank", "& Partners"]],
  ["mill", 6, ["Mills", "Cloth Company"]],
  ["instruments", 6, ["Instrument Works", "& Daughters, Opticians"]],
];

function makeCompanies(random: Random, towns: Town[], founders: Person[]): Company[] {
  const companies: Company[] = [];
  for (const [industry, count, endings] of INDUSTRIES) {
    for (let number = 0; number < count; number++) {
      const founder = founders[companies.length] as Person;
      companies.push({
        name: `${surnameOf(founder)} ${endings[number % endings.length]}`,
        industry,
        founded: founder.born.year + 24 + random.int(20),
        founder,
        seat: random.pick(towns),
        hands: 40 + random.int(1800),
      });
    }
  }
  const [buyers, sold] = [
    companies.filter((_, index) => index % 3 === 0),
    companies.filter((_, index) => index % 3 === 1),
  ];
  for (const company of sold) company.bought = { by: random.pick(buyers), on: day(random, 1946, 1979) };
  return companies;
}

function makeBuildings(random: Random, towns: Town[], companies: Company[], architects: Person[]): Building[] {
  const builders = companies.filter(({ industry }) => industry === "builders");
  const make = (kind: Building["kind"], name: string, town: Town, architect: Person, size: number): Building => {
    const builder = random.pick(builders);
    const from = Math.max(architect.born.year + 29, builder.founded + 2);
    return { kind, name, town, architect, builder, size, opened: day(random, from, from + 20) };
  };
  const places = shuffle(random, towns);
  const at = (index: number) => places[index % places.length] as Town;
  const by = (index: number) => architects[index % architects.length] as Person;
  return [
    // two bridges for each of the first six architects
    ...names.BRIDGES.map((name, index) => make("bridge", name, at(index), by(index % 6), 60 + random.int(700))),
    ...names.LIGHTHOUSES.map((name, index) => make("lighthouse", name, at(index + 5), by(index + 6), 21 + 6 * index)),
    ...names.THEATRES.map((name, index) =>
      make("theatre", name, at(index + 12), by(index + 3), 300 + random.int(1400)),
    ),
    ...places
      .slice(0, 12)
      .map((town, index) => make("town hall", `${town.name} Town Hall`, town, by(index + 2), 30 + index)),
  ];
}

function makeShips(random: Random, companies: Company[], captains: Person[], museums: Museum[]): Ship[] {
  const yards = companies.filter(({ industry }) => industry === "shipyard");
  return names.SHIPS.map((name, index) => {
    const captain = captains[index % captains.length] as Person;
    const yard = yards[index % yards.length] as Company;
    const from = Math.max(captain.born.year + 30, yard.founded + 1);
    const museum = index >= 10 ? museums[index - 10] : undefined;
    return { name, yard, captain, museum, launched: day(random, from, from + 15), metres: 24 + random.int(80) };
  });
}

function makeExpeditions(random: Random, ships: Ship[], companies: Company[], leaders: Person[]): Expedition[] {
  const sponsors = companies.filter(({ industry }) => industry === "bank" || industry === "instruments");
  const taken = shuffle(random, ships);
  return names.EXPEDITIONS.map((name, index) => {
    const ship = taken[index] as Ship;
    const leader = leaders[index % leaders.length] as Person;
    // two expeditions for each of seven sponsors
    const sponsor = sponsors[index % 7] as Company;
    const from = Math.max(ship.launched.year + 1, leader.born.year + 25, sponsor.founded + 1);
    return { name, leader, ship, sponsor, left: day(random, from, from + 6), crew: 12 + random.int(50) };
  });
}

function makeWorks(random: Random, towns: Town[], writers: Person[], painters: Person[]): Work[] {
  const make = (kind: Work["kind"], name: string, by: Person): Work => {
    return { kind, name, by, year: by.born.year + 25 + random.int(30), town: random.pick(towns) };
  };
  return [
    ...names.BOOKS.map((name, index) => make("novel", name, writers[index % writers.length] as Person)),
    ...names.PAINTINGS.map((name, index) => make("painting", name, painters[index % painters.length] as Person)),
  ];
}

const PRIZE_TRADES: Trade[] = ["architect", "writer", "explorer", "painter"];

function makePrizes(random: Random, people: Person[]): Prize[] {
  return names.PRIZES.map((name, index) => {
    const winners = shuffle(
      random,
      people.filter(({ trade }) => trade === PRIZE_TRADES[index]),
    ).slice(0, 9);
    const given = winners
      .map((to) => ({ year: to.born.year + 35 + random.int(25), to }))
      .sort((a, b) => a.year - b.year)
      .filter((one, number, all) => one.year !== all[number - 1]?.year);
    return { name, school: names.SCHOOLS[index] as string, given };
  });
}

function makeDisasters(random: Random, town: Town, index: number): Disaster[] {
  const make = (kind: Disaster["kind"]) => ({ kind, town, on: day(random, 1795, 1936), houses: 12 + random.int(400) });
  return [...(index < 14 ? [make("fire")] : []), ...(index >= 8 && index < 20 ? [make("flood")] : [])];
}

export function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.int(left.length), 1)[0] as T);
}

function year(random: Random, from: number, to: number): number {
  return from + random.int(to - from + 1);
}

function day(random: Random, from: number, to: number): Day {
  return { year: year(random, from, to), month: 1 + random.int(12), day: 1 + random.int(28) };
}
