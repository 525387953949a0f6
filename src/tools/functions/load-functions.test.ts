import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadFunctions } from "./load-functions.ts";

let written = 0;

function write(text: string, extension = "ts"): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, `tools${written++}.${extension}`);
  writeFileSync(file, text);
  return file;
}

async function load(text: string, extension?: string) {
  const { tools, server } = await loadFunctions(write(text, extension));
  const call = (name: string, args: object) => server.reads[name]?.({} as never, args as never);
  return { tools: Object.fromEntries(tools.map((tool) => [tool.name, tool])), call };
}

const objectOf = (properties: object, required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

test("signatures and comments of TypeScript make the schema, and arguments come in their order", async () => {
  const { tools, call } = await load(`
    type Kind = "web" | "news";
    interface Box { /** in metres */ width: number; readonly tags?: string[] }
    /**
     * Looks things up,
     * carefully. Costs 5, (really).
     *
     * @param query - what to look for,
     *   in words
     * @param limit at most so many
     * @returns a list
     */
    export async function lookUp(query: string, limit = 5, kind: Kind = "web", site?: string | null, more: Record<string, number[]> = {}): Promise<object> {
      return [query, limit, kind, site, more];
    }
    export const wrap = ({ width, tags = [] }: Box) => ({ width, tags });
    export const pick = (args: { n: number; "x-y"?: boolean }): unknown => args;
    function hidden(list: readonly (string | number)[], pair: [number, string]) { return [list, pair]; }
    export { hidden as shown };
    export class Helper {}
    export const VALUE = 3;
  `);
  expect(Object.keys(tools).sort()).toEqual(["lookUp", "pick", "shown", "wrap"]);
  expect(tools.lookUp).toEqual({
    name: "lookUp",
    description: "Looks things up, carefully. Costs 5, (really).",
    readOnly: true,
    parameters: objectOf(
      {
        query: { type: "string", description: "what to look for, in words" },
        limit: { type: "number", description: "at most so many", default: 5 },
        kind: { type: "string", enum: ["web", "news"], default: "web" },
        site: { anyOf: [{ type: "string" }, { type: "null" }] },
        more: { type: "object", additionalProperties: { type: "array", items: { type: "number" } }, default: {} },
      },
      ["query"],
    ),
  });
  expect(tools.wrap?.parameters).toEqual(
    objectOf(
      { width: { type: "number", description: "in metres" }, tags: { type: "array", items: { type: "string" } } },
      ["width"],
    ),
  );
  expect(tools.pick?.parameters).toEqual(objectOf({ n: { type: "number" }, "x-y": { type: "boolean" } }, ["n"]));
  expect(tools.shown?.parameters).toMatchObject({ required: ["list", "pair"], properties: { pair: { maxItems: 2 } } });
  expect(await call("lookUp", { site: "s", query: "q" })).toEqual(["q", 5, "web", "s", {}]);
  expect(await call("wrap", { width: 2 })).toEqual({ width: 2, tags: [] });
  expect(await call("pick", { n: 1 })).toEqual({ n: 1 });
});

test("in JavaScript the comment has the types; without any, every value will do", async () => {
  const { tools, call } = await load(
    `
    /** Adds.
     * @param {number} a the first
     * @param {number=} [b=2] the second
     * @param {Array<"x"|"y">} [c] */
    export function add(a, b = 2, c) { return a + b + (c ?? []).length; }
    export const greet = (name = "you", { loud = false } = {}) => (loud ? name.toUpperCase() : name);
    export const same = async x => x;
    export default function twice(n) { return 2 * n; }
  `,
    "mjs",
  );
  expect(tools.add?.parameters).toEqual(
    objectOf(
      {
        a: { type: "number", description: "the first" },
        b: { type: "number", description: "the second", default: 2 },
        c: { type: "array", items: { type: "string", enum: ["x", "y"] } },
      },
      ["a"],
    ),
  );
  expect(tools.greet?.parameters).toMatchObject({
    properties: { name: { type: "string", default: "you" } },
    required: [],
  });
  expect([call("add", { a: 1 }), call("greet", { name: "Ada", options: { loud: true } })]).toEqual([3, "ADA"]);
  expect([await call("same", { x: 7 }), call("twice", { n: 4 })]).toEqual([7, 8]);
});

test("what a function says about itself counts more than its text", async () => {
  const { tools, call } = await load(`
    export function odd(args: Map<string, Date>) { return args; }
    odd.description = "Odd.";
    odd.parameters = { type: "object", properties: { when: { type: "string" } } };
  `);
  expect(tools.odd).toMatchObject({ description: "Odd.", parameters: { properties: { when: { type: "string" } } } });
  expect(call("odd", { when: "now" })).toEqual({ when: "now" });
});

test.each([
  ["export function f(...all: string[]) {}", /:1: f: a tool's parameters need names/],
  ["\nexport function f(\n  a: string,\n  b: Map<string, number>,\n) {}", /:4: f: Map<…> cannot be read as JSON/],
  ["export function f(a: Date) {}", /:1: f: Date is not defined in this file/],
  ["export const f = (done: (n: number) => void) => done;", /:1: f: the type here is a function; or say/],
  ["interface Node {\n  next: Node }\nexport function f(n: Node) {}", /:2: f: Node holds itself/],
  ["type A = { a: 1 };\nexport function f(x: A & { b: 2 }) {}", /:2: f: the type here is an intersection/],
  ["export const x = 1;", /exports no functions to offer as tools$/],
  ["export function _f() {}", /exports no functions/],
  ["export function f(", /:1.* cannot be loaded/],
  ["throw new Error('no key');", /:1:\d+: cannot be loaded: no key/],
  ["export const f = [Math.max][0];", /the parameters of f are not written here: say what they are with f.parameters/],
])("%j is an error with its line", async (text, message) => {
  await expect(loadFunctions(write(text))).rejects.toThrow(message);
});
