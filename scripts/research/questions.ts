// Thirty questions about the made-up country that one document does not answer, each with the way to its answer. Three
// of them have none.
import { ask, on, onShip } from "./asking.ts";
import { type Question, toLine } from "./plans.ts";
import { aboutCompanies, aboutPeople } from "./questions-parties.ts";
import { aboutBuildings, aboutShips } from "./questions-things.ts";
import type { World } from "./world.ts";

export function writeQuestions(world: World): object[] {
  return [
    ...aboutBuildings(world),
    ...aboutShips(world),
    ...aboutCompanies(world),
    ...aboutPeople(world),
    ...withoutAnswer(world),
  ].map(toLine);
}

/** Nothing in the documents tells these. */
function withoutAnswer({ ships, expeditions, buildings }: World): Question[] {
  const unknown = { answers: ["unknown", "not known", "the documents do not say"] };
  return [
    ...ask({
      id: "cost-of-a-bridge",
      count: 1,
      from: buildings.filter(({ kind }) => kind === "bridge"),
      ask: (bridge) => ({
        question: `How much was the builder of the ${bridge.name} paid for it?`,
        ...unknown,
        hops: [on(bridge, "cost"), on(bridge.builder, "paid")],
      }),
    }),
    ...ask({
      id: "founders-mother",
      count: 1,
      from: ships,
      ask: (ship) => ({
        question: `What was the name of the mother of the founder of the yard that built the ship ${ship.name}?`,
        ...unknown,
        hops: [onShip(ship, "built by"), on(ship.yard, "founder"), on(ship.yard.founder, "mother")],
      }),
    }),
    ...ask({
      id: "ships-cook",
      count: 1,
      from: expeditions,
      ask: (expedition) => ({
        question: `Who was the cook on the ship of the ${expedition.name}?`,
        ...unknown,
        hops: [on(expedition, "cook"), onShip(expedition.ship, "cook")],
      }),
    }),
  ];
}
