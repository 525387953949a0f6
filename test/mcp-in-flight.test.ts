import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { RunEvent } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { lines, SCRIPTED } from "./support/shop-dataset.ts";

const SERVER = fileURLToPath(new URL("support/mcp/ledger-server.mjs", import.meta.url));
const OUTPUT = "out/trajectories/shop.jsonl";
const call = (name: string) => ({ calls: [{ name, arguments: {} }] });
const QUERY = {
  id: "q",
  messages: [{ role: "user", content: "Pay." }],
  task_info: { plan: [{ steps: [call("look"), call("tip"), call("pay"), call("look")], say: "Paid." }] },
};
const RUN = ["run", "--config", "run.yml", "--output-dir", "out", ...SCRIPTED];

/** The server gives no session ids, and its tools write. */
const SHARED = { type: "shared_state", server: "ledger" };

type Logged = { name: string; key?: string; meta: string[] };

/** A config with one shared server, which keeps silent about payments as long as the file `silence` is there. */
async function openShop(work: WorkFolder, settings = ""): Promise<{ calls(): Logged[]; speak(): void }> {
  work.write("silence", "");
  const server = spawn(process.execPath, [SERVER, join(work.path, "log"), join(work.path, "silence")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill());
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  work.write("queries.jsonl", lines([QUERY]));
  work.write(
    "run.yml",
    `datasets: {shop: {path: queries.jsonl}}\nmcpServers: {ledger: {url: "${String(line).trim()}"${settings}}}\n`,
  );
  return {
    calls: () => (work.has("log") ? work.records<Logged>("log") : []),
    speak: () => rmSync(join(work.path, "silence")),
  };
}

/** Starts a run and ends it when the server has got its payment, which it does not answer. */
async function cutOff(work: WorkFolder, calls: () => Logged[], kill: NodeJS.Signals[]): Promise<void> {
  const before = calls().filter(({ name }) => name === "pay").length;
  const { child, finished } = work.start(RUN);
  while (calls().filter(({ name }) => name === "pay").length === before) await pause(20);
  for (const signal of kill) {
    child.kill(signal);
    await pause(200);
  }
  await finished;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function expectPaidOnce(work: WorkFolder, logged: Logged[], sent: number): void {
  const keys = (name: string) => logged.filter((each) => each.name === name).map(({ key }) => key);
  expect(keys("pay")).toHaveLength(sent);
  expect(new Set(keys("pay")).size).toBe(1);
  expect(keys("tip")).toHaveLength(1); // it is on record: never repeated
  expect([...keys("tip"), keys("pay")[0]]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.any(String)]);
  expect(keys("tip")[0]).not.toBe(keys("pay")[0]);
  expect(new Set(keys("look"))).toEqual(new Set([undefined]));
  const [record] = work.records(OUTPUT);
  const paid = record?.messages.flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []).filter((each) => each.function.name === "pay") : [],
  );
  expect(record?.metadata.faults).toEqual([SHARED, { type: "call_in_flight", tool: "pay", call_id: paid?.[0]?.id }]);
  expect(JSON.stringify(record?.messages)).toContain("payment 2");
  expect(JSON.stringify(record?.messages)).not.toContain("payment 3");
}

test("a call to a shared server that was in flight at a kill is sent again under its key, and the record says so", async () => {
  const work = workFolder();
  const { calls, speak } = await openShop(work);
  await cutOff(work, calls, ["SIGKILL"]);
  await cutOff(work, calls, ["SIGKILL"]);
  speak();
  const { code, stderr } = await work.run(["resume", "out", "--quiet"]);
  expect([code, stderr]).toEqual([0, ""]);
  expectPaidOnce(work, calls(), 3);
});

test("so is one that a second Ctrl-C left unanswered", async () => {
  const work = workFolder();
  const { calls, speak } = await openShop(work);
  await cutOff(work, calls, ["SIGINT", "SIGINT"]);
  speak();
  expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
  expectPaidOnce(work, calls(), 2);
});

test("and one that the server did not answer in time; the failure says what may have happened", async () => {
  const work = workFolder();
  const { calls, speak } = await openShop(work, ", timeout: 4");
  expect((await work.run([...RUN, "--quiet"])).code).toBe(3);
  expect(work.read("out/failures.jsonl")).toContain("did not answer in time; the call may have taken effect there");
  speak();
  expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
  expectPaidOnce(work, calls(), 2);
});

test("the mark outlives a kill after the answer, and calls that were answered or never sent have none", async () => {
  const work = workFolder();
  const { calls, speak } = await openShop(work);
  await cutOff(work, calls, ["SIGKILL"]);
  speak();
  expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
  const journal = work.records<RunEvent>("out/journal.jsonl");
  // what a kill would leave after the answer to `pay`, before the rollout's end
  const answered = journal.findIndex(
    (event) => event.type === "entry-end" && event.entry.type === "tool-result" && event.entry.name === "pay",
  );
  work.write("out/journal.jsonl", lines(journal.slice(0, answered + 1)));
  work.remove(OUTPUT);
  expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
  expectPaidOnce(work, calls(), 2);
});

test("nothing is marked where nothing was in flight: a kill before the call was sent", async () => {
  const work = workFolder();
  const { speak, calls } = await openShop(work);
  speak();
  expect((await work.run([...RUN, "--quiet"])).code).toBe(0);
  const journal = work.records<RunEvent>("out/journal.jsonl");
  const sent = journal.findLastIndex((event) => event.type === "call-start");
  work.write("out/journal.jsonl", lines(journal.slice(0, sent)));
  work.remove(OUTPUT);
  expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
  expect(work.records(OUTPUT)[0]?.metadata.faults).toEqual([SHARED]);
  expect(new Set(calls().flatMap(({ key }) => key ?? [])).size).toBe(3); // tip, pay, and pay anew
});
