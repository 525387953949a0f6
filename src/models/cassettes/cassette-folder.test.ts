import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canonical, failures, networkRun, play, serveScripted } from "../../../test/support/network-run.ts";
import { temporaryFolder } from "../../../test/support/play.ts";
import { learnSecret } from "../../core/index.ts";
import type { RecordedCall } from "./cassette.ts";
import { recordInto, replayFrom } from "./cassette-folder.ts";

const KEY = "sk-planted-0123456789";

test("a replayed run makes no call, needs no key, and gives the same records", async () => {
  const server = await serveScripted({ apiKey: KEY });
  const folder = temporaryFolder();
  const scene = { entry: { api_key: `\${MY_KEY}` }, config: { limit: 4 } };
  const recorded = await play(networkRun(server.url, { ...scene, patch: { record: folder } }), {
    env: { MY_KEY: KEY },
  });
  const asked = server.requests().asked;
  expect(asked).toBeGreaterThan(10);

  const replayed = await play(networkRun(server.url, { ...scene, patch: { replay: folder } }));
  expect(server.requests().asked).toBe(asked);
  expect(replayed.result).toMatchObject({ finished: 4, failed: 0 });
  expect(canonical(replayed.records)).toEqual(canonical(recorded.records));

  expect(readdirSync(folder)).toEqual(["StudentAcademicPortal.jsonl"]);
  expect(readFileSync(join(folder, "StudentAcademicPortal.jsonl"), "utf8")).not.toContain(KEY);
});

test("a request that is not the recorded one is an error that names what differs", async () => {
  const server = await serveScripted();
  const folder = temporaryFolder();
  await play(networkRun(server.url, { patch: { record: folder } }));
  const warmer = networkRun(server.url, { config: { agent_temperature: 0.5, limit: 1, replay: folder } });
  const { result } = await play(warmer);
  expect(result).toMatchObject({ finished: 0, failed: 1 });
  const [failure] = failures(result.folder);
  expect(failure?.error).toMatch(/^replay: call 1 of the agent in rollout 0 .* what differs: the model's settings$/);
});

test("a failure is played back like a reply", async () => {
  const server = await serveScripted({ faults: "overflow@3" });
  const folder = temporaryFolder();
  const scene = (patch: object) => ({ patch: { max_workers: 1, ...patch } });
  const recorded = await play(networkRun(server.url, scene({ record: folder })));
  expect(recorded.records[0]?.metadata.stop_reason).toBe("context_overflow");
  const replayed = await play(networkRun(server.url, scene({ replay: folder })));
  expect(canonical(replayed.records)).toEqual(canonical(recorded.records));
});

const call = (rollout: number, position: number, content: string): RecordedCall => ({
  query_id: "q",
  rollout,
  party: "agent",
  position,
  request: {
    ...{ model: "m", settings: "", system: "", tools: "" },
    ...{ tool_choice: "auto", message_count: 1, messages: "" },
  },
  reply: {
    content,
    toolCalls: [],
    usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 },
    finish: "stop",
  },
});

test("repeated rollouts have recordings of their own, the last one of a key counts, and a torn tail is ignored", async () => {
  const folder = temporaryFolder();
  const tape = recordInto(folder);
  for (let rollout = 0; rollout < 3000; rollout++) await tape.keep("a/b", call(rollout, 0, `said ${rollout}\u2028`));
  await tape.keep("a/b", call(7, 0, "said again"));
  await tape.close();
  const [file] = readdirSync(folder);
  expect(file).toBe("a%2Fb.jsonl");
  appendFileSync(join(folder, file as string), '{"query_id":"q","rollout":9,"party":"agent","posi');

  const played = replayFrom(folder);
  const said = async (rollout: number, position = 0) => {
    const found = await played.find({ dataset: "a/b", queryId: "q", rollout, party: "agent", position });
    return found?.reply?.content;
  };
  for (const rollout of [0, 1, 1500, 2999]) expect(await said(rollout)).toBe(`said ${rollout}\u2028`);
  expect(await said(7)).toBe("said again");
  expect(await said(3000)).toBeUndefined();
  expect(await said(0, 1)).toBeUndefined();
  await played.close();
});

test("a missing folder, a dataset that was not recorded and a line of another kind are the user's to mend", async () => {
  const folder = temporaryFolder();
  expect(() => replayFrom(join(folder, "none"))).toThrow(/There is no cassette folder/);
  mkdirSync(join(folder, "tapes"));
  writeFileSync(join(folder, "tapes", "b.jsonl"), '{"id":1}\n');
  const played = replayFrom(join(folder, "tapes"));
  const key = { queryId: "q", rollout: 0, party: "agent", position: 0 } as const;
  await expect(played.find({ ...key, dataset: "a" })).rejects.toThrow(/was this dataset recorded/);
  await expect(played.find({ ...key, dataset: "b" })).rejects.toThrow(/b\.jsonl:1: this line is not a recorded call/);
});

test("a key that a reply repeats, plain or encoded, does not reach the cassette", async () => {
  const folder = temporaryFolder();
  learnSecret(KEY);
  const tape = recordInto(folder);
  const encoded = [KEY, Buffer.from(`user:${KEY}`).toString("base64"), encodeURIComponent(`${KEY}=`)];
  await tape.keep("d", call(0, 0, `You sent ${encoded.join(" ")}.`));
  await tape.close();
  const text = readFileSync(join(folder, "d.jsonl"), "utf8");
  for (const form of [KEY, Buffer.from(KEY).toString("base64").slice(4, -4)]) expect(text).not.toContain(form);
  expect(JSON.parse(text).reply.content).toMatch(/^You sent \[redacted\] .*\[redacted\]/);
});
