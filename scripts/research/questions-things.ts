// Questions that begin with a building or a ship.
import { ask, on, onShip } from "./asking.ts";
import type { Hop, Question } from "./plans.ts";
import { fileOf, writeDay } from "./wording.ts";
import type { Building, Day, Person, Ship, Town, World } from "./world.ts";

export function aboutBuildings(world: World): Question[] {
  const of = (kind: Building["kind"]) => world.buildings.filter((building) => building.kind === kind);
  const bridgesOf = (person: Person) => of("bridge").filter(({ architect }) => architect === person);
  return [
    ...ask({
      id: "architects-birthplace",
      from: of("theatre").filter(({ architect }) => architect.birthplace.formerly),
      ask: (theatre) => ({
        question: `In which town was the architect of the ${theatre.name} born?`,
        ...townAnswer(theatre.architect.birthplace),
        hops: [on(theatre, "architect"), on(theatre.architect, "born")],
      }),
    }),
    ...ask({
      id: "longer-bridge",
      from: world.people.filter((person) => bridgesOf(person).length === 2),
      ask: (person) => {
        const [one, other] = bridgesOf(person) as [Building, Building];
        return {
          question: `${person.name} designed two bridges. How many metres longer is the longer one?`,
          answer: Math.abs(one.size - other.size),
          hops: [on(person, "bridges"), on(one, "length in metres"), on(other, "length in metres")],
        };
      },
    }),
    ...ask({
      id: "teachers-school",
      from: of("lighthouse").filter(
        ({ architect }) => architect.teacher && architect.teacher.school !== architect.school,
      ),
      ask: (lighthouse) => {
        const teacher = lighthouse.architect.teacher as Person;
        return {
          question: `Where was the teacher of the architect of the lighthouse ${lighthouse.name} educated?`,
          answer: teacher.school.replace(/^the /, ""),
          hops: [on(lighthouse, "architect"), on(lighthouse.architect, "pupil of"), on(teacher, "educated at")],
        };
      },
    }),
    ...ask({
      id: "old-name",
      from: of("town hall").filter(({ town }) => town.formerly),
      ask: (hall) => ({
        question: `When was the architect born who designed the town hall of the town once called ${hall.town.formerly}?`,
        answer: writeDay(hall.architect.born),
        hops: [
          [`town called ${hall.town.formerly} until 1871`, fileOf(hall.town.name)],
          on(hall, "architect"),
          on(hall.architect, "born"),
        ],
      }),
    }),
    ...ask({
      id: "height-of-the-lamp",
      count: 1,
      from: of("lighthouse"),
      ask: (lighthouse) => ({
        question: `The lamp of one lighthouse stands ${lighthouse.size} metres above the sea. Who founded the firm that built it?`,
        answer: lighthouse.builder.founder.name,
        hops: [
          [`lighthouse lamp ${lighthouse.size} metres above the sea`, fileOf(lighthouse.name)],
          on(lighthouse.builder, "founded by"),
        ],
      }),
    }),
  ];
}

export function aboutShips({ ships, expeditions }: World): Question[] {
  const commands = (person: Person) => ships.filter(({ captain }) => captain === person).length;
  return [
    ...ask({
      id: "founders-river",
      count: 1,
      from: ships,
      ask: (ship) => ({
        question: `The founder of the yard that built the ship ${ship.name} was born in a town. On which river does it lie?`,
        ...riverOf(ship),
      }),
    }),
    ...ask({
      id: "expeditions-river",
      count: 1,
      from: expeditions,
      ask: (expedition) => {
        const { answer, hops } = riverOf(expedition.ship);
        return {
          question: `The ${expedition.name} had a ship. On which river lies the birthplace of the founder of the yard that built it?`,
          answer,
          hops: [on(expedition, "ship"), ...hops],
        };
      },
    }),
    ...ask({
      id: "captains-bell",
      from: ships.filter(({ museum, captain }) => museum && commands(captain) === 1),
      ask: (ship) => ({
        question: `Which museum holds the bell of the ship that ${ship.captain.name} commanded?`,
        answer: ship.museum?.name as string,
        hops: [
          on(ship.captain, "captain"),
          [`museum bell of the ship ${ship.name}`, fileOf(ship.museum?.name as string)],
        ],
      }),
    }),
    ...ask({
      id: "yards-year",
      from: expeditions,
      ask: (expedition) => ({
        question: `In which year was the yard founded that built the ship of the ${expedition.name}?`,
        answer: expedition.ship.yard.founded,
        hops: [on(expedition, "ship"), onShip(expedition.ship, "built by"), on(expedition.ship.yard, "founded")],
      }),
    }),
    ...ask({
      id: "age-of-the-leader",
      count: 1,
      from: expeditions,
      ask: (expedition) => ({
        question: `How old was the leader of the ${expedition.name} on the day when it set out?`,
        answer: ageOn(expedition.leader.born, expedition.left),
        hops: [on(expedition, "leader"), on(expedition.leader, "born")],
      }),
    }),
  ];
}

/** Of the birthplace of the founder of the ship's yard. */
function riverOf(ship: Ship): { answer: string; hops: Hop[] } {
  const { founder } = ship.yard;
  const hops = [
    onShip(ship, "built by"),
    on(ship.yard, "founder"),
    on(founder, "born in"),
    on(founder.birthplace, "town river"),
  ];
  return { answer: founder.birthplace.river, hops };
}

/** Either name of a town is right. */
function townAnswer({ name, formerly }: Town): Pick<Question, "answer" | "answers"> {
  return formerly ? { answers: [name, formerly] } : { answer: name };
}

function ageOn(born: Day, on: Day): number {
  const beforeBirthday = on.month < born.month || (on.month === born.month && on.day < born.day);
  return on.year - born.year - (beforeBirthday ? 1 : 0);
}
