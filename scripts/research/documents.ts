// The made-up country written down: one short Markdown document for each person, place and thing, old newspapers that
// mention them without helping, and one long chronicle.
import { createRandom } from "../../src/core/index.ts";
import { writeChronicle } from "./chronicle.ts";
import { SCHOOLS } from "./names.ts";
import { writeCompany, writePerson, writeSchool, writeTown } from "./parties.ts";
import {
  titleOfDisaster,
  writeBuilding,
  writeDisaster,
  writeExpedition,
  writeMuseum,
  writePrize,
  writeShip,
  writeWork,
} from "./things.ts";
import { capital, fileOf } from "./wording.ts";
import type { World } from "./world.ts";

export type Document = { file: string; text: string };

export function writeDocuments(world: World): Document[] {
  const documents = [
    ...world.towns.map((town) => page(town.name, writeTown(world, town))),
    ...SCHOOLS.map((school) => page(capital(school), writeSchool(world, school))),
    ...world.people.map((person) => page(person.name, writePerson(world, person))),
    ...world.companies.map((company) => page(company.name, writeCompany(world, company))),
    ...world.buildings.map((building) => page(building.name, writeBuilding(building))),
    ...world.ships.map((ship) => page(`The ${ship.name}`, writeShip(ship))),
    ...world.museums.map((museum) => page(museum.name, writeMuseum(world, museum))),
    ...world.expeditions.map((expedition) => page(expedition.name, writeExpedition(expedition))),
    ...world.works.map((work) => page(work.name, writeWork(work))),
    ...world.prizes.map((prize) => page(prize.name, writePrize(prize))),
    ...world.disasters.map((disaster) => page(titleOfDisaster(disaster), writeDisaster(disaster))),
    ...writeNewspapers(world),
    page("Chronicle of the harbours", writeChronicle(world)),
  ];
  const files = documents.map(({ file }) => file);
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice) throw new Error(`two documents are called ${twice}`);
  return documents;
}

function page(title: string, paragraphs: string[]): Document {
  return { file: fileOf(title), text: `# ${title}\n\n${paragraphs.join("\n\n")}\n` };
}

/** They have the names in them, and nothing that answers anything. */
function writeNewspapers(world: World): Document[] {
  return world.towns.map((town) => {
    const random = createRandom("research newspapers", town.name);
    const mention = (things: readonly { name: string }[]) => random.pick(things).name;
    return page(`${town.name} Courier, selected notices`, [
      `Notices from the ${town.name} Courier, collected by its readers.`,
      `- A lecture about the ${mention(world.expeditions)} had to be put off, since the lantern was broken.`,
      `- ${mention(world.people)} was seen at the regatta and declined to speak to our reporter.`,
      `- For sale: a model of the ${mention(world.ships)}, one mast missing. Ask at the office.`,
      `- The reading circle will discuss “${mention(world.works)}” on Thursday. Bring a chair.`,
      `- Lost between the ${mention(world.buildings)} and the station: a brown glove.`,
    ]);
  });
}
