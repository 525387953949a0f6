import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ToolSpec } from "../core/index.ts";
import { prefixesFor, snakeCase, Toolbox } from "./naming.ts";

const spec = (name: string): ToolSpec => ({ name, description: "", parameters: {}, readOnly: true });
const server = (name: string, ...tools: string[]) => ({ server: name, tools: tools.map(spec) });

const word = fc.constantFrom(
  "Student",
  "Academic",
  "Portal",
  "Health",
  "MCP",
  "Fish",
  "Oil",
  "Office",
  "Foo",
  "F",
  "1",
);
const serverName = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(""));
const serverNames = fc.uniqueArray(serverName, { minLength: 1, maxLength: 5 });
const toolName = fc.constantFrom("get", "get_record", "pay", "list", "x".repeat(60), "y".repeat(70));

describe("prefixes", () => {
  test("are the servers' initials in lower case", () => {
    expect(Object.fromEntries(prefixesFor(["StudentAcademicPortal", "CampusNavigatorMCP", "Library2"]))).toEqual({
      StudentAcademicPortal: "sap",
      CampusNavigatorMCP: "cnm",
      Library2: "l2",
    });
  });

  test("servers whose initials clash get their whole names", () => {
    expect(Object.fromEntries(prefixesFor(["StudentHealthServices", "StudentHousingServices", "Library"]))).toEqual({
      StudentHealthServices: "student_health_services",
      StudentHousingServices: "student_housing_services",
      Library: "l",
    });
  });

  test("a whole name that is another server's initials makes that one take its whole name too", () => {
    expect(Object.fromEntries(prefixesFor(["Foo", "Fum", "FishOilOffice"]))).toEqual({
      Foo: "foo",
      Fum: "fum",
      FishOilOffice: "fish_oil_office",
    });
  });

  test("are unique and hang on the set of servers, not on their order", () => {
    fc.assert(
      fc.property(serverNames, fc.nat(), (names, turn) => {
        const prefixes = prefixesFor(names);
        expect(new Set(prefixes.values()).size).toBe(names.length);
        const turned = [...names.slice(turn % names.length), ...names.slice(0, turn % names.length)].reverse();
        expect(Object.fromEntries(prefixesFor(turned))).toEqual(Object.fromEntries(prefixes));
      }),
    );
  });

  test("names that differ in case only are still kept apart", () => {
    expect(new Set(prefixesFor(["AB", "Ab"]).values()).size).toBe(2);
  });
});

describe("names on the wire", () => {
  test("are bare in one domain and prefixed in a combination", () => {
    expect(new Toolbox([server("StudentPortal", "get_course")]).names()).toEqual(["get_course"]);
    expect(new Toolbox([server("StudentPortal", "get_course"), server("Library", "get_book")]).names()).toEqual([
      "sp__get_course",
      "l__get_book",
    ]);
  });

  test("are dotted where the original's style is asked for", () => {
    const toolbox = new Toolbox([server("StudentPortal", "get_course"), server("Library", "get_book")], "dotted");
    expect(toolbox.names()).toEqual(["sp.get_course", "l.get_book"]);
    expect(toolbox.resolve("sp__get_course")?.tool).toBe("get_course");
  });

  test("are taken by every provider, unique, and the same whatever the order of the servers", () => {
    fc.assert(
      fc.property(serverNames, fc.uniqueArray(toolName, { minLength: 1 }), (names, tools) => {
        const servers = names.map((name) => server(name, ...tools));
        const toolbox = new Toolbox(servers);
        expect(new Set(toolbox.names()).size).toBe(names.length * tools.length);
        for (const name of toolbox.names()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(new Toolbox(servers.reverse()).names().sort()).toEqual(toolbox.names().sort());
      }),
    );
  });

  test("stay apart where two long names begin alike, or differ in a character that is not allowed", () => {
    const long = "a".repeat(64);
    const toolbox = new Toolbox([server("Portal", `${long}1`, `${long}2`, "a.b", "a_b")]);
    expect(new Set(toolbox.names()).size).toBe(4);
    for (const name of toolbox.names()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    for (const tool of [`${long}1`, `${long}2`]) expect(toolbox.resolve(tool)?.tool).toBe(tool);
  });

  test("are what the specs carry, and the rest of a spec is untouched", () => {
    const original = { ...spec("get"), description: "Gets.", parameters: { type: "object" }, readOnly: false };
    const toolbox = new Toolbox([{ server: "A", tools: [original] }, server("B", "put")]);
    expect(toolbox.tools[0]).toEqual({ ...original, name: "a__get" });
  });
});

describe("a call finds its tool", () => {
  const toolbox = new Toolbox([
    server("StudentAcademicPortal", "get_record", "drop_course"),
    server("CampusNavigatorMCP", "get_record", "find_room"),
  ]);

  test.each([
    "sap__drop_course",
    "sap.drop_course",
    "StudentAcademicPortal.drop_course",
    "StudentAcademicPortal__drop_course",
    "student_academic_portal.drop_course",
    "student_academic_portal__drop_course",
    "studentacademicportal.drop_course",
    "drop_course",
  ])("by %s", (name) => {
    expect(toolbox.resolve(name)).toMatchObject({ server: "StudentAcademicPortal", tool: "drop_course" });
  });

  test("but not by a name that two servers share, nor by one that nobody has", () => {
    expect(toolbox.resolve("get_record")).toBeUndefined();
    expect(toolbox.resolve("cnm.get_record")?.server).toBe("CampusNavigatorMCP");
    expect(toolbox.resolve("sap.find_room")).toBeUndefined();
    for (const name of ["", "__proto__", "constructor", "sap__", "find_rooms"]) {
      expect(toolbox.resolve(name)).toBeUndefined();
    }
  });

  test("by every alias of every tool, or by none where the alias is another's too", () => {
    fc.assert(
      fc.property(serverNames, fc.uniqueArray(toolName, { minLength: 1 }), (names, tools) => {
        const box = new Toolbox(names.map((name) => server(name, ...tools)));
        for (const name of names) {
          for (const tool of tools) {
            expect(box.resolve(`${name}.${tool}`)).toMatchObject({ server: name, tool });
            const bare = box.resolve(tool);
            if (names.length === 1) expect(bare).toMatchObject({ server: name, tool });
            else expect(bare).toBeUndefined();
          }
        }
      }),
    );
  });
});

test("snake case keeps acronyms together", () => {
  expect(["CampusNavigatorMCP", "HTTPServer2Go", "Library"].map(snakeCase)).toEqual([
    "campus_navigator_mcp",
    "http_server2_go",
    "library",
  ]);
});
