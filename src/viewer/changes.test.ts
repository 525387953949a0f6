import { Hono } from "hono";
import { expect, test } from "vitest";
import { streamChanges } from "./changes.ts";

function serve() {
  const listeners = new Set<(names: string[]) => void>();
  const runs = {
    listen(listener: (names: string[]) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const app = new Hono();
  app.get("/changes", (context) => streamChanges(context, { runs }));
  return { app, listeners };
}

test("whoever reads slowly gets one message about everything since the last", async () => {
  const { app, listeners } = serve();
  const reader = (await app.request("/changes")).body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  expect(await next()).toContain("event: alive");
  const [tell] = listeners;
  for (const name of ["a", "b", "a", "c", "b"]) tell?.([name]);
  const told: string[] = [];
  let messages = 0;
  for (; new Set(told).size < 3; messages++)
    told.push(...(JSON.parse(/^data: (.*)$/m.exec(await next())?.[1] as string) as { runs: string[] }).runs);
  expect(messages).toBeLessThanOrEqual(2);
  expect(told.length).toBeLessThanOrEqual(4);
  await reader.cancel();
  expect(listeners.size).toBe(0);
});

test("nothing is kept for who asks only for the head", async () => {
  const { app, listeners } = serve();
  for (let number = 0; number < 3; number++)
    expect((await app.request("/changes", { method: "HEAD" })).status).toBe(200);
  expect(listeners.size).toBe(0);
});
