import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Environment, type Query, RolloutError } from "../core/index.ts";
import { bundledFolder } from "./bundled.ts";
import { combineDomains } from "./combine.ts";
import { type Domain, loadDomain } from "./domain.ts";
import { loadCalculator, loadFunctionDomain } from "./function-domain.ts";
import { openTask } from "./open-task.ts";

const NEVER = AbortSignal.any([]);
const library = () => loadDomain(bundledFolder().find(["StudentHealthServices"]));

async function functions(text: string, name = "mine"): Promise<Domain> {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, `${name}.mjs`), text);
  return loadFunctionDomain(join(folder, `${name}.mjs`), name, {});
}

const call = (environment: Environment, name: string, args: object = {}, more: object = {}) =>
  environment.call({ id: "c", name, arguments: JSON.stringify(args), ...more }, NEVER);

test("tools keep their names; of two with one name each gets its server's prefix, and rules follow", async () => {
  const domain = await library();
  const [ruled] = domain.rules.flatMap((rule) => ("tools" in rule ? (rule.tools ?? []) : []));
  const other = await functions(`export const ${ruled} = () => "mine"; export const alone = () => "alone";`);
  const both = combineDomains("both", [domain, other, loadCalculator({})]);
  const names = both.toolbox.names();
  expect(names).toEqual(expect.arrayContaining([`shs__${ruled}`, `m__${ruled}`, "alone", "calculator"]));
  expect(names).not.toContain(ruled);
  expect(names).toHaveLength(domain.toolbox.tools.length + 3);
  const now = both.rules.flatMap((rule) => ("tools" in rule ? (rule.tools ?? []) : []));
  expect(now).toContain(`shs__${ruled}`);
  for (const tool of now) expect(both.toolbox.resolve(tool)?.server).toBe("StudentHealthServices");
  const environment = await both.openEnvironment({ seed: 1 });
  expect(environment.tools).toBe(both.toolbox.tools);
  expect(await call(environment, `m__${ruled}`)).toMatchObject({ content: "mine" });
  expect(await call(environment, `mine.${ruled}`)).toMatchObject({ content: "mine" });
  expect(await call(environment, ruled as string)).toMatchObject({ fault: "unknown_tool" }); // whose?
  expect((await call(environment, `shs__${ruled}`)).fault).not.toBe("unknown_tool");
  await environment.close();
});

test("only functions are trusted; state is the domain's alone; a tool of nobody's is unknown", async () => {
  const domain = await library();
  const both = combineDomains("both", [domain, await functions("export const alone = () => 1;"), loadCalculator({})]);
  expect(both).toMatchObject({ policy: domain.policy, stateless: ["mine", "calculator"], volatile: domain.volatile });
  const [first] = domain.toolbox.names();
  const environment = await both.openEnvironment({ seed: 1 });
  const trusts = (name: string) =>
    environment.trust?.({ id: "c", name, arguments: "{}" }, { content: "", isError: false });
  expect([trusts("alone"), trusts("mine.alone"), trusts("calculator"), trusts(first as string), trusts("x")]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect([environment.isReadOnly("alone"), environment.isReadOnly("x")]).toEqual([true, true]);
  expect(await call(environment, "calculator", { expression: "6 * 7" })).toMatchObject({
    content: expect.stringContaining("42"),
  });
  expect(await environment.state()).toEqual({});
  expect(JSON.parse((await call(environment, "alon")).content).error).toMatch(
    /did you mean "alone"\? Available tools: .*calculator/,
  );
  await environment.close();
});

test("a user's own tools may be functions, and the agent's are the rest", async () => {
  const both = combineDomains("both", [await library(), await functions("export const phone = () => 'rings';")]);
  const query = { id: "q", hash: "h", messages: [], taskInfo: {}, userTools: ["mine.*"] } as unknown as Query;
  const environment = await openTask(both, { seed: 1, query });
  expect(environment.userTools?.map(({ name }) => name)).toEqual(["phone"]);
  expect(environment.tools.map(({ name }) => name)).not.toContain("phone");
  expect(await call(environment, "phone")).toMatchObject({ fault: "unknown_tool" });
  expect(await call(environment, "phone", {}, { by: "user" })).toMatchObject({ content: "rings" });
  await environment.close();
});

test("if one part cannot be opened, the others are closed, and its error is told", async () => {
  let closed = 0;
  const good = loadCalculator({});
  const watched: Domain = {
    ...good,
    openEnvironment: async (world) =>
      Object.assign(await good.openEnvironment(world), { close: async () => void closed++ }),
  };
  const broken: Domain = {
    ...good,
    servers: ["broken"],
    openEnvironment: () => Promise.reject(new RolloutError("tool", "does not start")),
  };
  await expect(combineDomains("x", [watched, broken, watched]).openEnvironment({ seed: 1 })).rejects.toThrow(
    "does not start",
  );
  expect(closed).toBe(2);
});

test("the hash follows every part", async () => {
  const hashOf = async (text: string) => combineDomains("x", [await functions(text), loadCalculator({})]).contentHash;
  const [a, b, c] = [
    await hashOf("export const f = () => 1;"),
    await hashOf("export const f = () => 1;"),
    await hashOf("export const f = () => 2;"),
  ];
  expect(b).toBe(a);
  expect(c).not.toBe(a);
});
