import { describe, expect, test } from "vitest";
import { readUserText } from "./end-tokens.ts";

test("each of the three tokens has its own stop reason", () => {
  expect(readUserText("###STOP###").end).toBe("user_stop");
  expect(readUserText("###TRANSFER###").end).toBe("user_transfer");
  expect(readUserText("###OUT-OF-SCOPE###").end).toBe("user_out_of_scope");
});

test("a token is found and removed at the start, in the middle and at the end of a message", () => {
  expect(readUserText("###STOP### Thanks!")).toEqual({ text: "Thanks!", end: "user_stop" });
  expect(readUserText("Thanks! ###STOP### Bye.")).toEqual({ text: "Thanks! Bye.", end: "user_stop" });
  expect(readUserText("Thanks!\n\n###TRANSFER###\n")).toEqual({ text: "Thanks!", end: "user_transfer" });
  expect(readUserText("Thanks!###STOP###")).toEqual({ text: "Thanks!", end: "user_stop" });
});

test("a token alone leaves no text", () => {
  expect(readUserText(" ###OUT-OF-SCOPE### ")).toEqual({ text: "", end: "user_out_of_scope" });
});

test("of several tokens the first decides, and all are removed", () => {
  expect(readUserText("###TRANSFER### fine ###STOP###")).toEqual({ text: "fine", end: "user_transfer" });
});

describe("a token counts although it is slightly misspelt", () => {
  test.each([
    ["###stop###", "user_stop"],
    ["### STOP ###", "user_stop"],
    ["##STOP##", "user_stop"],
    ["###OUT_OF_SCOPE###", "user_out_of_scope"],
    ["###Out of scope###", "user_out_of_scope"],
  ])("%s", (token, end) => {
    expect(readUserText(`Thanks. ${token}`)).toEqual({ text: "Thanks.", end });
  });
});

test("the words alone, or other headings, end nothing and stay", () => {
  for (const text of ["Please stop the transfer.", "## My list\n- STOP", "### Notes ###"]) {
    expect(readUserText(text)).toEqual({ text, end: undefined });
  }
});
