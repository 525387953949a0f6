// Sentences that make a document longer than a search result shows, and answer nothing.
import { createRandom } from "../../src/core/index.ts";
import { shuffle } from "./world.ts";

const SENTENCES = {
  person: [
    "Those who remember the early years speak of a household full of clocks and visitors.",
    "An uncle who mended nets is said to have paid for the first books.",
    "Letters to a sister, printed much later, describe long evenings with maps and bad lamps.",
    "A first attempt at a career in the customs service ended after a single winter.",
    "Friends were made slowly and kept for life.",
    "The habit of walking to every appointment, in any weather, became a byword.",
    "A quarrel about money with a former partner went through three courts and ended with a handshake.",
    "There is one photograph, taken against the light, on which little can be seen but a hat.",
    "Honours were accepted without much interest and kept in a drawer.",
    "Pupils were told to measure twice and to eat before a decision.",
    "Two journeys abroad are certain, a third is doubtful.",
    "In old age a garden took most of the time that was left.",
  ],
  town: [
    "The old quarter, with its narrow houses of dark brick, burned and flooded often enough to be rebuilt in four styles.",
    "Each spring a fair brings in farmers from the hills, and with them the first cheese of the year.",
    "The railway reached the town late, since the council could not agree on the place for the station.",
    "Visitors are usually shown the fish market, the rope walk and a tree that is said to be older than the walls.",
    "A dialect of its own was spoken here until the schools were united.",
    "Its coat of arms has a heron, which a joker among the carvers once turned into a goose.",
    "Two bands, of the fire brigade and of the brewery, have competed since anyone can remember.",
    "The water of the wells tastes of iron, and the inhabitants are proud of it.",
  ],
  company: [
    "The first workshop was a rented barn, and the first order came from a cousin.",
    "Its ledgers are complete and were used by historians to study wages.",
    "A strike in a hard winter was settled when the owner joined the pickets with a pot of soup.",
    "The sign above the gate was painted anew each year by the youngest apprentice.",
    "A branch abroad was opened and closed again within two years.",
    "Its catalogue, bound in green cloth, is now sought by collectors.",
    "During the war it made crates and little else.",
    "Advertisements in the newspapers promised work that would outlive the customer.",
  ],
  building: [
    "Stone came by barge from the upper valley, iron from the foundries of the coast.",
    "A model in the council chamber shows two turrets that were never built.",
    "The opening was celebrated with a speech of two hours, of which no copy is left.",
    "Workers carved their initials where nobody would look, and somebody did.",
    "It has been painted grey, green and grey again.",
    "A plan to pull it down was signed by mistake and found in time.",
    "Swifts nest under the cornice, and repairs are made around them.",
    "Guides tell a story about a lost hammer which is told of other places too.",
  ],
  ship: [
    "Her figurehead was carved from a single trunk and painted by the carver's daughter.",
    "Sailors thought her lucky, since she was never becalmed for longer than a week.",
    "A cat that lived aboard appears on the lists as a passenger.",
    "She was rigged anew twice and never lost a mast.",
    "Her saloon had a piano until a heavy sea put an end to it.",
    "Insurance papers describe her as well found and a little slow.",
    "Songs about her were still sung in the harbours when she was long gone.",
  ],
  expedition: [
    "Provisions were counted for fourteen months, and the tea was gone after six.",
    "The instruments were checked against each other every Sunday at noon.",
    "A diary kept by the carpenter is livelier than the official report.",
    "Of eleven dogs nine came back, all of them fatter.",
    "The drawings made on the way fill four portfolios.",
    "Stamps with its badge were printed and never used.",
    "A dispute about who had seen the coast first was settled by drawing lots.",
  ],
  work: [
    "It was begun during an illness and finished in a rented room above a bakery.",
    "An earlier version was burned, or so it was said at the time.",
    "Those who recognised themselves in it were offended or delighted, some of them both.",
    "A copy by another hand was taken for the original for years.",
    "The first buyer gave it back after a month and bought it again at twice the price.",
    "It is mentioned in a sermon, two operettas and a cookery book.",
    "What the last part means has been disputed ever since.",
  ],
};

/** Some of them in an order of their own, always the same for the same thing. */
export function fill(about: string, kind: keyof typeof SENTENCES, count: number, skip = 0): string {
  return shuffle(createRandom("research filler", about), SENTENCES[kind])
    .slice(skip, skip + count)
    .join(" ");
}
