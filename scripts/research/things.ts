// The documents about buildings, ships, journeys, works of art, prizes and misfortunes.
import { fill } from "./filler.ts";
import { say, writeDay } from "./wording.ts";
import type { Building, Disaster, Expedition, Work, World } from "./world.ts";

export function writeBuilding({ name, kind, town, architect, builder, opened, size }: Building): string[] {
  const measures = {
    bridge: `The bridge is ${size} metres long and carries a road and a footpath.`,
    lighthouse: `Its lamp stands ${size} metres above the sea.`,
    theatre: `It seats ${size.toLocaleString("en")} people.`,
    "town hall": `It has ${size} rooms and a tower without a clock.`,
  };
  return [
    say(
      name,
      `The ${name} is a ${kind} in ${town.name}, opened on ${writeDay(opened)}.`,
      `The ${name}, a ${kind} in ${town.name}, was opened on ${writeDay(opened)}.`,
    ),
    fill(name, "building", 4),
    `It was designed by ${architect.name} and built by ${builder.name}. ${measures[kind]}`,
    say(
      name,
      "It was repaired after the war, and has been a listed monument since 1968.",
      "Postcards show it before the iron railing was added.",
      "Opinions about it were divided at first.",
    ),
  ];
}

export function writeShip({ name, yard, captain, launched, metres }: World["ships"][number]): string[] {
  return [
    say(
      name,
      `The ${name} was a ship of ${metres} metres, launched on ${writeDay(launched)}.`,
      `Launched on ${writeDay(launched)}, the ${name} was ${metres} metres long.`,
    ),
    fill(name, "ship", 4),
    `She was built by ${yard.name}. Her captain was ${captain.name}.`,
    say(
      name,
      "She was broken up after thirty years of service; her bell was saved.",
      "She carried grain, timber and once a circus.",
      "Her log is the only one of its time that is complete.",
    ),
  ];
}

export function writeMuseum(world: World, { name, town, opened }: World["museums"][number]): string[] {
  const ship = world.ships.find(({ museum }) => museum?.name === name);
  return [
    `The ${name} was opened in ${opened}. It shows the history of ${town.name} and of ${town.district}.`,
    `Among its treasures are ${ship ? `the bell of the ship ${ship.name}, ` : ""}a tide table cut in slate and a collection of keys.`,
    say(name, "It is closed on Mondays.", "Entry is free for pupils.", "The guide is a retired pilot."),
  ];
}

export function writeExpedition({ name, leader, ship, sponsor, left, crew }: Expedition): string[] {
  return [
    `The ${name} set out on ${writeDay(left)} under the lead of ${leader.name}.`,
    fill(name, "expedition", 4),
    `It sailed on the ${ship.name} with a company of ${crew} and was paid for by ${sponsor.name}.`,
    say(
      name,
      "Its charts were in use for fifty years.",
      "It came home a year late, with nobody lost.",
      "Half of its collection was spoiled by salt water.",
    ),
  ];
}

export function writeWork({ name, kind, by, year, town }: Work): string[] {
  return kind === "novel"
    ? [
        `“${name}” is a novel by ${by.name}, published in ${year}.`,
        fill(name, "work", 3),
        `It is set in ${town.name} and tells the story of a family over three generations.`,
        say(
          name,
          "The first edition sold out in a week.",
          "It was read in schools for years.",
          "Critics found it too long.",
        ),
      ]
    : [
        `“${name}” is a painting by ${by.name} from ${year}, oil on canvas.`,
        fill(name, "work", 3),
        `It shows a scene from ${town.name}.`,
        say(
          name,
          "Two sketches for it are known.",
          "It was shown only once.",
          "The frame is by the painter's brother.",
        ),
      ];
}

export function writePrize({ name, school, given }: World["prizes"][number]): string[] {
  return [
    `The ${name} is given by ${school}, not every year.`,
    "Those who received it:",
    given.map(({ year, to }) => `- ${year}: ${to.name}`).join("\n"),
  ];
}

export const titleOfDisaster = ({ kind, town }: Disaster) => `The great ${kind} of ${town.name}`;

export function writeDisaster({ kind, town, on, houses }: Disaster): string[] {
  return [
    `The great ${kind} of ${town.name} began on ${writeDay(on)} and ${kind === "fire" ? "burned" : "damaged"} ${houses} houses.`,
    kind === "fire"
      ? "It started in a bakery. A fire brigade was founded in the year after."
      : `The river ${town.river} rose by several metres overnight. The embankment was raised afterwards.`,
  ];
}
