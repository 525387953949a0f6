import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchName, parseNames, setKey, splitStem } from "./names.ts";

const known = ["StudentAcademicPortal", "CampusNavigatorMCP", "Domain1", "Library"];

describe("a name as a user writes it", () => {
  test.each([
    ["StudentAcademicPortal", "StudentAcademicPortal"],
    ["student_academic_portal", "StudentAcademicPortal"],
    ["student-academic-portal", "StudentAcademicPortal"],
    ["campus_navigator_mcp", "CampusNavigatorMCP"],
    ["campus_navigator", "CampusNavigatorMCP"],
    ["CampusNavigator", "CampusNavigatorMCP"],
    ["domain1_mcp", "Domain1"],
    ["LibraryServer", "Library"],
  ])("%s means %s", (written, meant) => {
    expect(matchName(written, known)).toBe(meant);
  });

  test("means nothing where no name is like it", () => {
    for (const written of ["Domain2", "", "Lib", "mcp"]) expect(matchName(written, known)).toBeUndefined();
  });

  test("means the name that is exactly so, where another differs only in its suffix", () => {
    expect(matchName("Library", ["LibraryMCP", "Library"])).toBe("Library");
    expect(matchName("library_mcp", ["Library", "LibraryMCP"])).toBe("LibraryMCP");
  });
});

describe("a combination", () => {
  test("is a set: its key is the same in any order and spelling", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(known, { minLength: 1 }), (names) => {
        expect(setKey([...names].reverse())).toBe(setKey(names));
        expect(setKey(names.map((name) => name.toLowerCase()))).toBe(setKey(names));
      }),
    );
    expect(setKey(["AB", "C"])).not.toBe(setKey(["A", "BC"]));
  });

  test("is read from a file's stem", () => {
    expect(splitStem("Library_CampusNavigatorMCP", known)).toEqual(["Library", "CampusNavigatorMCP"]);
    expect(splitStem("library_CampusNavigator", known)).toEqual(["Library", "CampusNavigatorMCP"]);
    expect(splitStem("Library", known)).toEqual(["Library"]);
    expect(splitStem("Library_Unknown", known)).toEqual(["Library", "Unknown"]);
  });

  test("is not made out of one domain's name in snake case", () => {
    expect(splitStem("campus_navigator_mcp", known)).toEqual(["CampusNavigatorMCP"]);
    expect(splitStem("My_Domain", [...known, "My_Domain"])).toEqual(["My_Domain"]);
  });

  test.each([
    ["Library+Domain1", ["Library", "Domain1"]],
    ["Domain1, library", ["Domain1", "Library"]],
    ["Library_Domain1_CampusNavigatorMCP", ["Library", "Domain1", "CampusNavigatorMCP"]],
    ["campus_navigator_mcp", ["CampusNavigatorMCP"]],
    ["Library Library", ["Library"]],
    ["Library+Nowhere", undefined],
    ["", undefined],
  ])("is read from %s", (written, servers) => {
    expect(parseNames(written, known)).toEqual(servers);
  });
});
