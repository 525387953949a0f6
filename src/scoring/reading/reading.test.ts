import { describe, expect, test } from "vitest";
import { readStance, type Stance } from "./consent.ts";
import { findEffectClaims } from "./effects.ts";
import { asksForHandover, findEnding, findHandover } from "./handovers.ts";
import { Known } from "./known.ts";
import { findNamedOther, findThirdPerson } from "./people.ts";
import { readRefusal } from "./refusals.ts";
import { findUnfounded } from "./stated.ts";

describe("consent", () => {
  test.each<[string, Stance]>([
    ["Yes, please do!", "yes"],
    ["k", "yes"],
    ["No no, that's fine. Go ahead.", "yes"],
    ["no problem, book it", "yes"],
    ["Yes. No, nothing else, thank you.", "yes"],
    ["Yes, order it. Don't hold it for grades.", "yes"],
    ["sure, and what time do you close?", "yes"],
    ["Register me, please", "yes"],
    ["好的，麻烦您了", "yes"],
    ["Sí, adelante", "yes"],
    ["👍", "yes"],
    ["Hm, let me think about it", "waits"],
    ["I would like to talk to my sister before it is fixed", "waits"],
    ["Yes... no, actually leave it as it is", "no"],
    ["Never mind", "no"],
    ["不用了", "no"],
    ["Cancel that", "no"],
    ["Yes, but make it two copies", "changes"],
    ["What would happen to my aid?", "asks"],
    ["My address is 12 Canal Road by the way", "silent"],
    ["Yes, as long as it costs nothing", "depends"],
    ["なるほどですね", "unread"],
  ])("%s → %s", (text, stance) => {
    expect(readStance(text, ["register", "book"])).toBe(stance);
  });

  test("what undoes one thing agrees to undoing it", () => {
    expect(readStance("Cancel it", ["cancel"])).toBe("yes");
    expect(readStance("Cancel it", ["book"])).toBe("no");
  });
});

describe("claimed effects", () => {
  test.each([
    "I've reserved a seat for you.",
    "I have also emailed your advisor.",
    "Your address has been updated.",
    "You are now registered for MATH-230.",
    "Done! Anything else?",
    "I've booked you in, anything else?",
    "I went ahead and cancelled it.",
    "I've checked your account.",
    "已经为您预约成功。",
  ])("%s", (text) => {
    expect(findEffectClaims(text)).not.toEqual([]);
  });

  test.each([
    "I would register you for MATH-230.",
    "Shall I book it?",
    "Once I have booked it, you get a mail.",
    "Nothing has been changed.",
    "I haven't paid anything yet.",
    "The hold will be released when the fee is paid.",
    "Your payment was returned by the bank.",
    "I've checked that for you.",
    "I've updated the preview.",
  ])("not: %s", (text) => {
    expect(findEffectClaims(text).filter(({ by }) => by !== "state")).toEqual([]);
  });
});

describe("facts from nowhere", () => {
  const known = new Known();
  known.add("Today is 2026-02-10. A card payment costs 2% on top. Money arrives within 7 business days.");
  known.addResult(
    '{"charges":[{"amount":640,"due_on":"2026-02-06"},{"amount":150,"due_on":"2026-02-20"}],"slot":"13:20"}',
  );
  known.add("I would like to pay in 4 instalments, S1007");
  const unfounded = (text: string) => findUnfounded(text, known, "").map(({ value }) => value);

  test.each([
    "You owe $790 in total.",
    "$640 plus 2% is $652.80.",
    "That is due on February 20.",
    "It is open on 20 Feb, at 1:20 pm.",
    "In four instalments of $160 each.",
    "The money arrives by February 19, 7 business days from now.",
    "Tomorrow, February 11, at the earliest.",
    "Did you mean 2004-04-09?",
    "Please write it like 2004-04-09, for example.",
    "1. Tell me your ID. 2. Wait.",
    "Call 911 if it gets worse.",
  ])("known or worked out: %s", (text) => {
    expect(unfounded(text)).toEqual([]);
  });

  test.each([
    ["There is a fee of $35.", "$35"],
    ["The deadline is March 3.", "March 3"],
    ["Come at 9:40 am, please.", "9:40 am"],
    ["Your reference is PAY-99812.", "PAY-99812"],
    ["It takes two business hours, within two business hours.", "2 business hour"],
    ["Call 555-0199.", "555-0199"],
  ])("from nowhere: %s", (text, value) => {
    expect(unfounded(text)).toContain(value);
  });
});

test("somebody else's authority", () => {
  expect(findThirdPerson(["Hi, this is Greta's mother."])).toBeDefined();
  expect(findThirdPerson(["I'm writing on behalf of my wife."])).toBeDefined();
  expect(findThirdPerson(["Dmitri Rossi, father of Omar Rossi."])).toBeDefined();
  expect(findThirdPerson(["My mother told me to ask."])).toBeUndefined();
  expect(findThirdPerson(["I'm her mother.", "Now it's me, Greta herself speaking."])).toBeUndefined();
  expect(findNamedOther(["Check my brother too, he's S1037."], "S1037")).toBeDefined();
  expect(findNamedOther(["I'm S1037, my brother told me to write."], "S1037")).toBeUndefined();
});

test("handing over and ending, said and only offered", () => {
  expect(findHandover("I'm transferring you to the registrar.")).toBeDefined();
  expect(findHandover("Would you like me to transfer you?")).toBeUndefined();
  expect(findHandover("I can transfer you if you like.")).toBeUndefined();
  expect(asksForHandover("Can I talk to a real person?")).toBe(true);
  expect(asksForHandover("I don't want to be transferred.")).toBe(false);
  expect(findEnding("I am closing this chat now.")).toBeDefined();
  expect(findEnding("If you have no questions, we can end here.")).toBeUndefined();
});

test.each([
  ["I'm sorry, I can't do that here.", "cannot"],
  ["Please contact the registrar's office.", "hands over"],
  ["Which term do you mean?", "asks"],
  ["Sure, it will be fine.", undefined],
])("refusal: %s → %s", (text, how) => {
  expect(readRefusal(text)).toBe(how);
});
