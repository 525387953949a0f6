// What is wrong with a queue or a worker is said in one sentence, without the password.
import { createServer } from "node:net";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { PASSWORD } from "./support/postgres.ts";
import { closePostgres, QueueScene, serveCounted, servedConfig, until } from "./support/queue.ts";
import { SCRIPTED, writeShop } from "./support/shop-dataset.ts";

afterAll(closePostgres);

const SHOP = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];

/** A port at which nobody answers. */
function deafPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

test("a wrong address, password, database or right: one sentence, exit 2, for both sides", async () => {
  const scene = await QueueScene.open();
  writeShop(scene.folder);
  await scene.query("CREATE ROLE guest LOGIN PASSWORD 'guest-0815-word'");
  const own = new URL(scene.url);
  const change = (members: Partial<URL>) => Object.assign(new URL(scene.url), members).href;
  const cases: [url: string, sentence: RegExp][] = [
    ["mysql://me:pass-4711-word@host/db", /needs the address of a PostgreSQL database/],
    ["nonsense", /needs the address of a PostgreSQL database/],
    [change({ port: String(await deafPort()) }), /^The database at 127\.0\.0\.1:\d+\/\S+ cannot be reached/],
    [change({ hostname: "no-such-host.invalid" }), /^The database at no-such-host\.invalid:\d+\/\S+ cannot be reached/],
    [change({ password: "wrong-4712-word" }), /refuses the login of postgres/],
    [change({ pathname: "/nowhere" }), /^There is no database "nowhere" at/],
    [
      change({ username: "guest", password: "guest-0815-word" }),
      /^guest may not use .* as a queue .*GRANT CREATE ON DATABASE/,
    ],
  ];
  for (const [url, sentence] of cases)
    for (const args of [
      ["worker", url],
      [...SHOP, "--queue", url],
    ]) {
      const { code, stderr, stdout } = await scene.run(args);
      expect([code, args[0], url, stderr]).toEqual([2, args[0], url, expect.stringMatching(sentence)]);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      for (const secret of [PASSWORD, own.password, "guest-0815-word", "wrong-4712-word"])
        expect(stderr + stdout).not.toContain(secret);
    }
  expect(scene.folder.has("outputs")).toBe(false);
});

test("something else that answers at that port is not a database", async () => {
  const scene = await QueueScene.open();
  const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await until(() => server.listening);
  const { port } = server.address() as { port: number };
  const { code, stderr } = await scene.run(["worker", `postgres://me:${PASSWORD}@127.0.0.1:${port}/x`]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^The database at 127\.0\.0\.1:\d+\/x /)]);
  expect(stderr).not.toContain(PASSWORD);
});

test("tables of a newer version are refused with both versions", async () => {
  const scene = await QueueScene.open();
  writeShop(scene.folder);
  expect(await scene.worker(["--once"]).finished).toMatchObject({ code: 0 });
  await scene.query("UPDATE rollout.meta SET schema_version = 7");
  for (const args of [
    ["worker", scene.url],
    [...SHOP, "--queue", scene.url],
  ]) {
    const { code, stderr } = await scene.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining("(schema 7, this one knows 1): update rollout")]);
  }
});

test("a worker of another version than the run's takes none of its work, and says both; the collector hears of it", async () => {
  const scene = await QueueScene.open();
  writeShop(scene.folder);
  const collector = scene.start([...SHOP, "--queue", scene.url]);
  await until(async () => (await scene.count("rollout.runs WHERE is_published")) === 1);
  await scene.query("UPDATE rollout.runs SET program_version = '0.0.7'");
  const refused = await scene.worker(["--once"]).finished;
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/was planned with rollout 0\.0\.7; this worker is \d+\.\d+\.\d+/);
  await until(() => collector.said().includes("was planned with rollout 0.0.7"));
  expect(await scene.count("rollout.rollouts")).toBe(3);
});

test("a worker that lacks a variable says which and takes no work; one that has it does, and its value is nowhere", async () => {
  const scene = await QueueScene.open();
  const server = await serveCounted({ least: 0, most: 5 });
  const key = "sk-planted-0123456789abcdef";
  const entry = { provider: "openai", api_base: server.url, api_key: "$" + "{FLEET_KEY}" };
  scene.folder.write(
    "run.yml",
    servedConfig(server.url, { models: { "scripted-agent": entry, "scripted-user": entry } }),
  );
  const collector = scene.start(["run", "--config", "run.yml", "--queue", scene.url], { FLEET_KEY: key });
  await until(async () => (await scene.count("rollout.runs WHERE is_published")) === 1);
  const lacking = await scene.worker(["--once"]).finished;
  expect([lacking.code, lacking.stderr]).toEqual([2, expect.stringContaining("FLEET_KEY")]);
  expect(await scene.count("rollout.rollouts")).toBe(6);
  const worker = scene.worker(["--once"], { FLEET_KEY: key });
  expect(await worker.finished).toMatchObject({ code: 0 });
  expect(await collector.finished).toMatchObject({ code: 0 });
  const [run] = await scene.query<{ bundle: string }>("SELECT bundle FROM rollout.runs");
  expect(run?.bundle).not.toContain(key);
});
