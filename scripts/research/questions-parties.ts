// Questions that begin with a firm or with something that a person made or won.
import { ask, on } from "./asking.ts";
import { listCranes } from "./chronicle.ts";
import type { Question } from "./plans.ts";
import { titleOfDisaster } from "./things.ts";
import { fileOf, writeDay } from "./wording.ts";
import type { Company, Town, World } from "./world.ts";

export function aboutCompanies(world: World): Question[] {
  const { companies, expeditions } = world;
  const cranes = new Map(listCranes(world).map(({ town, year }) => [town, year]));
  const craneYear = (town: Town) => cranes.get(town) as number;
  const paidBy = (company: Company) => expeditions.filter(({ sponsor }) => sponsor === company);
  return [
    ...ask({
      id: "buyers-town",
      from: companies.filter(({ bought }) => bought),
      ask: (company) => {
        const { by } = company.bought as NonNullable<Company["bought"]>;
        return {
          question: `The firm that ${company.founder.name} founded was bought by another. How many people lived at the census of 1960 in the town where the buyer has its seat?`,
          answer: by.seat.people,
          hops: [
            on(company.founder, "founded"),
            on(company, "bought by"),
            on(by, "seat"),
            on(by.seat, "inhabitants census 1960"),
          ],
        };
      },
    }),
    ...ask({
      id: "sponsored-ships",
      from: companies.filter((company) => paidBy(company).length === 2),
      ask: (company) => ({
        question: `Which two ships sailed on the expeditions that ${company.name} paid for? Give both names, separated by a comma.`,
        answer: paidBy(company).map(({ ship }) => ship.name),
        hops: [
          on(company, "paid for expeditions"),
          ...paidBy(company).map((expedition) => on(expedition, "sailed on")),
        ],
      }),
    }),
    ...ask({
      id: "steam-crane",
      count: 1,
      // on the last page of the chronicle
      from: companies.filter(({ seat }) => craneYear(seat) > 1924),
      ask: (company) => ({
        question: `The firm that ${company.founder.name} founded had its seat in a town. In which year did the harbour of that town get its first steam crane?`,
        answer: craneYear(company.seat),
        hops: [
          on(company.founder, "founded"),
          on(company, "seat"),
          [`chronicle harbour of ${company.seat.name} first steam crane`, fileOf("Chronicle of the harbours"), 4],
        ],
      }),
    }),
  ];
}

export function aboutPeople({ works, prizes, disasters }: World): Question[] {
  const fireOf = (town: Town) => disasters.find((disaster) => disaster.kind === "fire" && disaster.town === town);
  const of = (kind: string) => works.filter((work) => work.kind === kind);
  const pairs = of("painting").map((painting, index) => ({
    painting,
    novel: of("novel")[index] as World["works"][number],
  }));
  return [
    ...ask({
      id: "prize-winner",
      from: prizes.flatMap((prize) => prize.given.map((given) => ({ prize, ...given }))),
      ask: ({ prize, year, to }) => ({
        question: `On which day was the person born who received the ${prize.name} in ${year}?`,
        answer: writeDay(to.born),
        hops: [[`${prize.name} received`, fileOf(prize.name)], on(to, "born")],
      }),
    }),
    ...ask({
      id: "fire-at-home",
      from: of("novel").filter(({ by }) => fireOf(by.birthplace)),
      ask: (novel) => {
        const fire = fireOf(novel.by.birthplace) as World["disasters"][number];
        return {
          question: `When did the great fire begin in the town where the author of “${novel.name}” was born?`,
          answer: writeDay(fire.on),
          hops: [
            [`${novel.name} novel`, fileOf(novel.name)],
            on(novel.by, "born"),
            [`great fire of ${fire.town.name}`, fileOf(titleOfDisaster(fire))],
          ],
        };
      },
    }),
    ...ask({
      id: "born-first",
      from: pairs.filter(({ painting, novel }) => painting.by.born.year !== novel.by.born.year),
      ask: ({ painting, novel }) => ({
        question: `Who was born first, the painter of “${painting.name}” or the author of “${novel.name}”?`,
        answer: (painting.by.born.year < novel.by.born.year ? painting : novel).by.name,
        hops: [
          [`${painting.name} painting`, fileOf(painting.name)],
          on(painting.by, "born"),
          [`${novel.name} novel`, fileOf(novel.name)],
          on(novel.by, "born"),
        ],
      }),
    }),
  ];
}
