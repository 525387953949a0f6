// The documents about people, firms, towns and schools.
import { fill } from "./filler.ts";
import { COUNTRY } from "./names.ts";
import { capital, listed, say, surnameOf, writeDay } from "./wording.ts";
import type { Company, Person, World } from "./world.ts";

export function writeTown(world: World, town: World["towns"][number]): string[] {
  const { name, river, district, founded, people, formerly } = town;
  const hall = world.buildings.find((building) => building.kind === "town hall" && building.town === town);
  const firms = world.companies.filter(({ seat }) => seat === town);
  return [
    say(
      name,
      `${name} is a town in ${district}, ${COUNTRY}. It lies on the river ${river} and was founded in ${founded}.`,
      `${name}, founded in ${founded}, is a town on the river ${river} in ${district}, a part of ${COUNTRY}.`,
    ) + (formerly ? ` Until 1871 it was called ${formerly}, and older maps still have that name.` : ""),
    fill(name, "town", 3),
    `At the census of 1960 the town had ${people.toLocaleString("en")} inhabitants. ${say(
      name,
      "Most of them lived from the river, the market and the railway works.",
      "It had a weekly market, a grammar school and two newspapers.",
      "Fishing, rope making and a brewery gave most of the work.",
    )}`,
    ...(firms.length > 0 ? [`Firms with their seat in ${name}: ${listed(firms)}.`] : []),
    hall
      ? `The ${hall.name} stands on the market square and is open to visitors on weekdays.`
      : `${name} has no town hall of its own; the council meets in the old customs house.`,
  ];
}

export function writeSchool(world: World, school: string): string[] {
  const students = world.people.filter((person) => person.school === school);
  return [
    `${capital(school)} is one of the six schools of higher learning in ${COUNTRY}.`,
    `Its best-known students include ${listed(students.slice(0, 5))}.`,
    say(
      school,
      "Lectures are public in winter.",
      "The library holds forty thousand volumes.",
      "It moved twice in its history.",
    ),
  ];
}

export function writePerson(world: World, person: Person): string[] {
  const { name, trade, born, birthplace, school, teacher } = person;
  const surname = surnameOf(person);
  const article = /^[aeiou]/.test(trade) ? "an" : "a";
  return [
    say(
      name,
      `${name} (born ${writeDay(born)} in ${birthplace.name}) was ${article} ${trade}.`,
      `${name} was ${article} ${trade} from ${COUNTRY}, born on ${writeDay(born)} in ${birthplace.name}.`,
      `The ${trade} ${name} was born in ${birthplace.name} on ${writeDay(born)}.`,
    ),
    fill(name, "person", 3),
    `${surname} was educated at ${school}. ${
      teacher
        ? say(
            name,
            `${surname} was a pupil of ${teacher.name} and spoke of those years with gratitude.`,
            `${surname} learned the trade from ${teacher.name}, as the diaries tell.`,
            `${teacher.name} was the teacher to whom ${surname} owed the most.`,
          )
        : say(name, `${surname} had no teacher in the trade.`, `In the trade ${surname} was self-taught.`)
    }`,
    fill(name, "person", 3, 3),
    `${surname} ${deedsOf(world, person)}.`,
    say(
      name,
      "Most of the letters are lost; what is left is kept in the district archive.",
      "A street in the harbour quarter bears the name.",
      "Contemporaries describe a patient person with a loud laugh.",
      "The family left the country in the following generation.",
    ),
  ];
}

function deedsOf({ buildings, ships, companies, expeditions, works }: World, person: Person): string {
  const mine = works.filter(({ by }) => by === person).map(({ name }) => ({ name: `“${name}”` }));
  switch (person.trade) {
    case "architect":
      return `designed ${listed(
        buildings.filter(({ architect }) => architect === person),
        "the ",
      )}`;
    case "captain":
      return `commanded ${listed(
        ships.filter(({ captain }) => captain === person),
        "the ",
      )}`;
    case "merchant":
      return `founded ${listed(companies.filter(({ founder }) => founder === person))}`;
    case "explorer":
      return `led ${listed(
        expeditions.filter(({ leader }) => leader === person),
        "the ",
      )}`;
    case "writer":
      return `wrote ${listed(mine)}`;
    case "painter":
      return `painted ${listed(mine)}`;
  }
}

const BUSINESS: { [industry in Company["industry"]]: string } = {
  shipyard: "a shipyard",
  builders: "a building firm",
  bank: "a bank",
  mill: "a cloth mill",
  instruments: "a maker of instruments",
};

export function writeCompany(world: World, company: Company): string[] {
  const { name, industry, founded, founder, seat, hands, bought } = company;
  const paid = world.expeditions.filter(({ sponsor }) => sponsor === company);
  const bridges = world.buildings.filter(({ builder }) => builder === company).length;
  return [
    say(
      name,
      `${name} was ${BUSINESS[industry]} with its seat in ${seat.name}. It was founded in ${founded} by ${founder.name}.`,
      `${founder.name} founded ${name}, ${BUSINESS[industry]}, in ${founded}. Its seat was ${seat.name}.`,
    ),
    fill(name, "company", 3),
    `In its best years it gave work to ${hands.toLocaleString("en")} people.` +
      (bridges > 0 ? ` ${bridges} public buildings are known to be its work.` : ""),
    ...(paid.length > 0 ? [`It paid for ${listed(paid, "the ")}.`] : []),
    fill(name, "company", 2, 3),
    bought
      ? `On ${writeDay(bought.on)} the firm was bought by ${bought.by.name}, which kept the name for some years.`
      : "The firm stayed in the hands of the family.",
  ];
}
