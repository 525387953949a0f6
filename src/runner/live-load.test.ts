import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { RunLoad } from "../runner/index.ts";
import { createLoadWriter, readLoad } from "./live-load.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "rollout-live-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("what endpoints are doing can be read while a run goes on, and is gone after it", async () => {
  const path = folder();
  const load: RunLoad = {
    ...{ backingOff: {}, now: 9000, calls: [{ dataset: "d", id: "q", tool: "t", since: 1000 }] },
    endpoints: [{ endpoint: "http://a/v1", inFlight: 3, waiting: 2 }],
    retries: { server: 1 },
  };
  const writer = createLoadWriter(() => load);
  writer.follow(path);
  await vi.waitFor(() => expect(readLoad(path)).toEqual(load), { timeout: 10_000 });
  writer.stop();
  expect(readLoad(path)).toBeUndefined();
  expect(existsSync(join(path, "endpoints.json"))).toBe(false);
});

test("a torn or foreign file is no load", () => {
  const path = folder();
  expect(readLoad(path)).toBeUndefined();
  for (const text of ['{"endpoints": [', "[]", '{"endpoints": {}}']) {
    writeFileSync(join(path, "endpoints.json"), text);
    expect(readLoad(path)).toBeUndefined();
  }
});
