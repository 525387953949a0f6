import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type Json, type StateChanges } from "../core/index.ts";
import { BaseTable, Database, primaryKey, type Row } from "./tables.ts";

const ids = ["a", "b", "c", "d", "e", "__proto__"];
const field = fc.constantFrom("kind", "size", "tags");
const value: fc.Arbitrary<Json> = fc.constantFrom<Json>(null, 0, 1, "x", "y", true, ["x"], ["x", "y"], { deep: [1] });
const fields = fc.dictionary(field, value, { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<Row>;
const row = fc.tuple(fc.constantFrom(...ids), fields).map(([id, rest]): Row => ({ book_id: id, ...rest }));
const operation = fc.oneof(
  row.map((inserted) => ({ do: "insert" as const, row: inserted })),
  fc.tuple(fc.constantFrom(...ids), fields).map(([id, changes]) => ({ do: "update" as const, id, changes })),
  fc.constantFrom(...ids).map((id) => ({ do: "remove" as const, id })),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
const base = fc.uniqueArray(row, { selector: (one) => one.book_id as string, maxLength: 5 });

/** A table without any sharing: the whole list, copied. Base rows keep their places. */
class NaiveTable {
  readonly #base: Row[];
  #places: { id: string; row: Row | null }[];
  constructor(rows: Row[]) {
    this.#base = structuredClone(rows);
    this.#places = this.#base.map((one) => ({ id: String(one.book_id), row: one }));
  }
  rows(): Row[] {
    return this.#places.flatMap((place) => (place.row ? [place.row] : []));
  }
  apply(step: Operation): boolean {
    const id = step.do === "insert" ? String(step.row.book_id) : step.id;
    const place = this.#places.find((one) => one.id === id);
    const isThere = Boolean(place?.row);
    if (isThere === (step.do === "insert")) return false;
    if (step.do === "insert" && place) place.row = step.row;
    else if (step.do === "insert") this.#places.push({ id, row: step.row });
    else if (step.do === "update" && place) place.row = { ...place.row, ...step.changes };
    else if (place) {
      place.row = null;
      if (!this.#base.some((one) => one.book_id === id)) this.#places = this.#places.filter((one) => one !== place);
    }
    return true;
  }
  changes(): { [id: string]: Row | null } {
    const before = new Map(this.#base.map((one) => [String(one.book_id), one]));
    const now = new Map(this.rows().map((one) => [String(one.book_id), one]));
    const changes: [string, Row | null][] = [];
    for (const id of new Set([...before.keys(), ...now.keys()])) {
      const [old, current] = [before.get(id), now.get(id)];
      if (!current) changes.push([id, null]);
      else if (!old) changes.push([id, current]);
      else {
        const different = [...new Set([...Object.keys(old), ...Object.keys(current)])].filter(
          (name) => canonicalJson(old[name]) !== canonicalJson(current[name]),
        );
        if (different.length > 0)
          changes.push([id, Object.fromEntries(different.map((name) => [name, current[name] ?? null]))]);
      }
    }
    return Object.fromEntries(changes);
  }
}

const equal = (one: Row, match: Row) =>
  Object.entries(match).every(([name, wanted]) => canonicalJson(one[name]) === canonicalJson(wanted));

describe("copy-on-write tables", () => {
  test("behave like a copy of the whole table, whatever is done to them", () => {
    fc.assert(
      fc.property(
        base,
        fc.array(operation, { maxLength: 25 }),
        fc.array(fields, { maxLength: 4 }),
        (rows, steps, matches) => {
          const database = new Database([new BaseTable("Book", structuredClone(rows))]);
          const open = database.open();
          const table = open.table("Book");
          const naive = new NaiveTable(rows);
          for (const step of steps) {
            const attempt = () => {
              if (step.do === "insert") table.insert(structuredClone(step.row));
              else if (step.do === "update") table.update(step.id, structuredClone(step.changes));
              else table.remove(step.id);
            };
            if (naive.apply(step)) attempt();
            else expect(attempt).toThrow(/Book (already has|has no)/);
            expect(table.where()).toEqual(naive.rows());
            for (const match of matches) {
              const wanted = naive.rows().filter((one) => equal(one, match));
              expect(table.where(match)).toEqual(wanted);
              expect(table.where((one) => equal(one, match))).toEqual(wanted);
              expect(table.first(match)).toEqual(wanted[0]);
            }
          }
          for (const id of ids) expect(table.get(id)).toEqual(naive.rows().find((one) => one.book_id === id));
          const changes = naive.changes();
          const expected: StateChanges = Object.keys(changes).length > 0 ? { Book: changes } : {};
          expect(canonicalJson(open.changes())).toBe(canonicalJson(expected));
        },
      ),
      { numRuns: 400 },
    );
  });

  test("never change the base, and two opens never see each other", () => {
    fc.assert(
      fc.property(base, fc.array(fc.tuple(fc.boolean(), operation), { maxLength: 20 }), (rows, steps) => {
        const database = new Database([new BaseTable("Book", structuredClone(rows))]);
        const opens = [database.open(), database.open()] as const;
        const naives = [new NaiveTable(rows), new NaiveTable(rows)] as const;
        for (const [second, step] of steps) {
          const [open, naive] = second ? [opens[1], naives[1]] : [opens[0], naives[0]];
          if (!naive.apply(step)) continue;
          if (step.do === "insert") open.table("Book").insert(step.row);
          else if (step.do === "update") open.table("Book").update(step.id, step.changes);
          else open.table("Book").remove(step.id);
        }
        for (const index of [0, 1] as const) expect(opens[index].table("Book").where()).toEqual(naives[index].rows());
        expect(database.open().table("Book").where()).toEqual(rows);
        expect(database.open().changes()).toEqual({});
      }),
    );
  });

  test("give out rows that cannot be changed behind their back", () => {
    const database = new Database([new BaseTable("Book", [{ book_id: "a", tags: ["x"] }])]);
    const table = database.open().table<{ book_id: string; tags: string[] }>("Book");
    const rows = [table.get("a"), table.insert({ book_id: "b", tags: ["y"] }), table.update("a", { tags: ["z"] })];
    for (const one of rows) {
      expect(() => {
        if (one) one.tags = [];
      }).toThrow(TypeError);
      expect(() => one?.tags.push("w")).toThrow(TypeError);
    }
  });

  test("a table that no file holds starts empty and takes rows", () => {
    const open = new Database([]).open();
    expect(open.table("Loan").where()).toEqual([]);
    open.table("Loan").insert({ loan_id: "L1" });
    expect(open.table("Loan").get("L1")).toEqual({ loan_id: "L1" });
    expect(open.changes()).toEqual({ Loan: { L1: { loan_id: "L1" } } });
  });

  test("a new row needs its primary key, which is the table's name in lower case and _id", () => {
    expect(primaryKey("HealthRecord")).toBe("healthrecord_id");
    const table = new Database([]).open().table("HealthRecord");
    expect(() => table.insert({ record_id: "1" })).toThrow('A row for HealthRecord needs "healthrecord_id"');
  });

  test("rows without a primary key can be read, also after a write", () => {
    const links = [{ course: "A" }, { course: "B" }];
    const table = new Database([new BaseTable("Link", links)]).open().table("Link");
    table.insert({ link_id: "L1", course: "C" });
    expect(table.where().map(({ course }) => course)).toEqual(["A", "B", "C"]);
    expect(table.where({ course: "A" })).toEqual([{ course: "A" }]);
  });

  test("a row that is put back as it was is no change", () => {
    const open = new Database([new BaseTable("Book", [{ book_id: "a", tags: ["x"], size: 1 }])]).open();
    open.table("Book").update("a", { size: 2, tags: ["y"] });
    open.table("Book").update("a", { tags: ["x"], size: 1 });
    expect(open.changes()).toEqual({});
    open.table("Book").remove("a");
    open.table("Book").insert({ size: 1, tags: ["x"], book_id: "a" });
    expect(open.changes()).toEqual({});
  });

  test("changes name only the tables that differ, in order of their names", () => {
    const database = new Database(["B", "A", "C"].map((name) => new BaseTable(name, [])));
    const open = database.open();
    for (const name of database.names()) open.table(name).where();
    open.table("C").insert({ c_id: "1" });
    open.table("A").insert({ a_id: "1" });
    expect(Object.keys(open.changes())).toEqual(["A", "C"]);
  });
});
