// A few rounds of trouble; ROLLOUT_CHAOS_ROUNDS asks for more.
import { expect, onTestFinished, test } from "vitest";
import { playChaos } from "./support/crash/chaos.ts";
import { startPostgres } from "./support/postgres.ts";
import { expectWhole } from "./support/queue-run.ts";

const rounds = Number(process.env.ROLLOUT_CHAOS_ROUNDS ?? 4);
const isLong = process.env.ROLLOUT_CHAOS_ROUNDS !== undefined;
const seed = Number(process.env.ROLLOUT_CHAOS_SEED ?? 7);

test("kills of workers and collector, sleep past the lease, restarts of the database: 0 lost, 0 doubled, paid twice only what was in flight", {
  timeout: 120_000 + rounds * 20_000,
}, async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.close());
  const limit = Math.min(27, Math.max(8, rounds));
  const {
    scene,
    server,
    calls,
    code,
    stderr,
    inFlight,
    rounds: played,
  } = await playChaos(postgres, { rounds, seed, limit });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expectWhole(scene);
  const { asked } = server.requests();
  expect(asked - calls).toBe(server.repeated());
  expect(server.repeated()).toBeLessThanOrEqual(inFlight);
  if (isLong)
    process.stdout.write(
      `${played.join(" ")}: ${asked} calls, ${calls} on one machine, at most ${inFlight} in flight\n`,
    );
});
