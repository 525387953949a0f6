import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillPlaceholders, listPlannedCalls } from "./reference-plan.ts";

const played = [
  { name: "list_slots", content: '{"slots":[{"id":"A","minutes":20},{"id":"B","minutes":40}],"open":true}' },
  { name: "Clinic.book", content: '{"reference":"APT-1","where":{"room":"12"}}' },
  { name: "list_slots", content: '{"slots":[{"id":"C","minutes":60}],"open":false}' },
  { name: "broken", content: "no JSON" },
];

describe("references", () => {
  test("a text that is one reference becomes the value, with its type", () => {
    expect(fillPlaceholders("{{list_slots.slots.0.minutes}}", played)).toBe(60);
    expect(fillPlaceholders("{{list_slots.open}}", played)).toBe(false);
    expect(fillPlaceholders("{{Clinic.book.where}}", played)).toEqual({ room: "12" });
  });

  test("references inside a text are written out", () => {
    expect(fillPlaceholders("Room {{book.where.room}}, {{book.where}}, {{ book.reference }}.", played)).toBe(
      'Room 12, {"room":"12"}, APT-1.',
    );
  });

  test("the latest call of a tool is meant, or the nth where it is numbered", () => {
    expect(fillPlaceholders("{{list_slots.slots.0.id}}", played)).toBe("C");
    expect(fillPlaceholders("{{list_slots#1.slots.1.id}}", played)).toBe("B");
    expect(fillPlaceholders("{{list_slots#2.slots.0.id}}", played)).toBe("C");
  });

  test("a tool is found by its bare name and by its server's", () => {
    expect(fillPlaceholders(["{{book.reference}}", "{{Clinic.book.reference}}"], played)).toEqual(["APT-1", "APT-1"]);
    expect(fillPlaceholders("{{Library.book.reference}}", played)).toBe("{{Library.book.reference}}");
  });

  test("what cannot be found stays as it was written", () => {
    for (const text of ["{{no_such.id}}", "{{list_slots#3.open}}", "{{list_slots.slots.9.id}}", "{{broken.id}}"]) {
      expect(fillPlaceholders(text, played)).toBe(text);
      expect(fillPlaceholders(`x ${text}`, played)).toBe(`x ${text}`);
    }
  });

  test("keys are filled like values, at any depth", () => {
    expect(
      fillPlaceholders({ Appointment: { "{{book.reference}}": [{ room: "{{book.where.room}}" }] } }, played),
    ).toEqual({ Appointment: { "APT-1": [{ room: "12" }] } });
  });

  test("a value without references is left as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value));
        fc.pre(!JSON.stringify(json).includes("{{"));
        expect(fillPlaceholders(json, played)).toEqual(json);
      }),
    );
  });
});

test("the reference calls of a plan are those of all its steps, in order", () => {
  const call = (name: string) => ({ name, arguments: {} });
  expect(
    listPlannedCalls([
      { say: "Who are you?" },
      { user: "S1", steps: [{ calls: [call("a"), call("b")] }, { calls: [call("c")] }] },
      { user: "yes", steps: [{ calls: [call("d")] }] },
    ]).map(({ name }) => name),
  ).toEqual(["a", "b", "c", "d"]);
});
