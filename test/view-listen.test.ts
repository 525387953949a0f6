// Where the page's server listens, what it says where it cannot, and how it ends while pages are open.
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startViewer } from "../src/viewer/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { recordLine, writeRun } from "./support/view-run.ts";
import { asker, startView } from "./support/view-server.ts";

function newWork(): WorkFolder {
  const work = workFolder();
  writeRun(join(work.path, "outputs", "one"), { Desk: recordLine({ queryId: "q-1" }) });
  return work;
}

async function takePort(): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  return (other.address() as AddressInfo).port;
}

test("a port that is taken, or none, and an address of no use: one sentence with what to do", async () => {
  const work = newWork();
  const port = String(await takePort());
  const play = ["play", "StudentHealthServices", "--bundled", "--as", "user", "--view", "--no-open"];
  for (const [args, said] of [
    [["view", "--no-open", "--port", port], `Something listens on 127.0.0.1:${port} already`],
    [["view", "--no-open", "--port", "70000"], "There is no port 70000"],
    [["view", "--no-open", "--host", "203.0.113.7", "--i-know"], "This machine has no address 203.0.113.7"],
    [["view", "--no-open", "outputs/one/manifest.json"], "outputs/one/manifest.json is not a folder"],
    [[...play, "--port", port], `Something listens on 127.0.0.1:${port} already`],
  ] as const) {
    const { code, stdout, stderr } = await work.run([...args]);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toContain(said);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  }
});

test("the machine's other loopback address is one, too", async () => {
  const work = newWork();
  const hasIt = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
  if (!hasIt) {
    const { code, stderr } = await work.run(["view", "--no-open", "--host", "::1"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("no address ::1")]);
    return;
  }
  const { address, get } = await startView([join(work.path, "outputs"), "--host", "::1", "--port", "0"]);
  expect(address).toMatch(/^http:\/\/\[::1\]:[1-9]\d*\//);
  expect((await get("/api/runs")).status).toBe(200);
});

test("whatever means everywhere is printed as an address that can be opened", async () => {
  const work = newWork();
  const { origin, get } = await startView([join(work.path, "outputs"), "--host", "0", "--i-know"]);
  expect(new URL(origin).hostname).not.toMatch(/^0/);
  expect((await get("/api/runs")).status).toBe(200);
});

test("streams that are left, cut off or never read leave nothing behind, nor does a server that is closed", async () => {
  const work = newWork();
  const held = () =>
    process
      .getActiveResourcesInfo()
      .filter((name) => /^T(CP|imeout)/.test(name))
      .sort();
  const before = held();
  const viewer = await startViewer({ folders: [join(work.path, "outputs")] });
  const { origin, cookie, get } = asker(viewer.address);
  const gone = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: 200 }, () =>
      fetch(`${origin}/api/changes`, { headers: { cookie }, signal: gone.signal }).then(({ status }) => status),
    ),
  );
  expect(new Set(streams)).toEqual(new Set([200]));
  expect(held().length).toBeGreaterThan(before.length + 200);
  gone.abort();
  // the server, its looking, and what the client keeps for its next request
  while (held().length > before.length + 10) await get("/api/runs");
  const stay = await fetch(`${origin}/api/changes`, { headers: { cookie } });
  await viewer.close();
  await expect(stay.text()).rejects.toThrow();
  while (held().length > before.length + 1) await new Promise((resolve) => setTimeout(resolve, 20));
});

test("Ctrl-C ends it at once while pages listen", async () => {
  const work = newWork();
  const { origin, cookie, child, ended } = await startView([join(work.path, "outputs")]);
  const stream = await fetch(`${origin}/api/changes`, { headers: { cookie } });
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  await expect(stream.text()).rejects.toThrow();
});
