// The dialogue that everybody plays: a question, eleven tool calls one after another, an answer. 12 model calls, and requests
// that grow from 13 KB to 26 KB: 19 KB at the median.

export const CALLS = 12;

const SENTENCES = [
  "A loan is renewed once, and only before its last day has passed.",
  "Say which title you mean, and where it stands, before you change anything about it.",
  "A reader who owes more than twenty crowns is told so, and can return titles but borrow none.",
  "Whoever asks for a title that is out is put on its list, and is told the place on it.",
  "Titles of the reading room are never lent, whoever asks and however short the time.",
  "Look a record up before you speak about it; what a reader remembers is not a record.",
];
const text = (count, from = 0) =>
  Array.from({ length: count }, (_, n) => SENTENCES[(n + from) % SENTENCES.length]).join(" ");

const THINGS = ["loan", "title", "reader", "branch", "shelf", "order", "fine", "list"];
const ACTS = ["find", "renew"];

export const scenario = {
  system: `You serve the readers of a library. These are its rules.\n\n${text(27)}`,
  question: `Please go through my records and tell me which of them need something done. ${text(2, 3)}`,
  answer: `I looked at eleven records. ${text(2, 1)}`,
  tools: ACTS.flatMap((act, a) =>
    THINGS.map((thing, t) => ({
      name: `${act}_${thing}`,
      description: `The record of one ${thing}. ${text(2, a + t)}`,
      parameters: {
        type: "object",
        properties: {
          record_id: { type: "string", description: `The number of the ${thing}, as it is printed on it` },
          field: { type: "string", description: `The part of the record that is wanted, all of it if left out` },
        },
        required: ["record_id"],
      },
    })),
  ),
  // a tool's result is `{"record_id":"<the number asked for>",` and this
  record: JSON.stringify({ kind: "record", notes: text(9, 2), history: text(4, 4), open: true }).slice(1),
};

/** The call that the model makes in its nth reply, counted from 0. */
export function callOf(step) {
  const { name } = scenario.tools[step % scenario.tools.length];
  return { name, arguments: JSON.stringify({ record_id: `R-${1000 + step}`, field: "status" }) };
}

export const resultOf = (recordId) => `{"record_id":${JSON.stringify(recordId)},${scenario.record}`;
