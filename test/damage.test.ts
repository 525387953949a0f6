// Files of a run that were damaged: a disk that forgets, an editor, a copy that broke off. What is damaged is set aside
// and said, and made again from the journal; nothing that was paid for is asked for again.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RolloutError, type Trajectory } from "../src/core/index.ts";
import { canonical, networkRun, notes, play, serveScripted } from "./support/network-run.ts";
import { run, STOP, scripted, temporaryFolder } from "./support/play.ts";

const DATASET = "StudentAcademicPortal";

/** A finished run of three rollouts whose models are asked over the network. */
async function finishedRun() {
  const server = await serveScripted();
  const folder = join(temporaryFolder(), "run");
  const again = () => play(networkRun(server.url, { folder }));
  const { records } = await again();
  const file = join(folder, "trajectories", `${DATASET}.jsonl`);
  return { server, folder, again, file, before: canonical(records), asked: server.requests().asked };
}

const lines = (bytes: Buffer) => bytes.toString("latin1").split("\n").slice(0, -1);
const join_ = (parts: string[]) => Buffer.from(parts.map((part) => `${part}\n`).join(""), "latin1");
const edit = (change: (all: string[]) => string[]) => (bytes: Buffer) => join_(change(lines(bytes)));
const second = (change: (line: string) => string) =>
  edit((all) => all.map((line, index) => (index === 1 ? change(line) : line)));
/** Changes a record and takes its checksum away, as a program that knows nothing of it might. */
const record = (change: (record: Trajectory) => object) =>
  second((line) => {
    const value = JSON.parse(Buffer.from(line, "latin1").toString("utf8"));
    delete value.metadata.timings.checksum;
    return Buffer.from(JSON.stringify(change(value))).toString("latin1");
  });

describe("a damaged record is set aside and made again as it was, and no model is asked again", () => {
  const cases: [string, (bytes: Buffer) => Buffer, number][] = [
    ["a flipped letter", second((line) => line.replace("content", "cantent")), 1],
    ["a flipped digit in its times", second((line) => line.replace(/"duration_ms":\d/, '"duration_ms":99')), 1],
    ["bytes that are no UTF-8", second((line) => line.replace(/"content":"./, '"content":"\xff')), 1],
    ["a line of zeros", second((line) => "\0".repeat(line.length)), 1],
    ["a line cut in the middle", second((line) => line.slice(0, line.length / 2)), 1],
    ["a line without its beginning", second((line) => line.slice(line.length / 2)), 1],
    ["two lines glued together", edit(([a, b, c]) => [`${a}${b}`, c as string]), 1],
    ["half a line glued to the next", edit(([a, b, c]) => [`${a?.slice(0, 99)}${b}`, c as string]), 1],
    ["a line broken in two", second((line) => `${line.slice(0, 300)}\n${line.slice(300)}`), 2],
    ["a line that was never a record", edit((all) => [...all, "Segmentation fault"]), 1],
    ["a record twice", edit((all) => [...all, all[0] as string]), 1],
    ["a huge line", edit((all) => [...all, "x".repeat(9 << 20)]), 1],
    ["an id of another rollout", record((value) => ({ ...value, id: "other" })), 1],
    ["a rollout of another number", record((value) => ({ ...value, rollout: 1 })), 1],
    ["another dataset", record((value) => ({ ...value, dataset: "Library" })), 1],
    ["no messages", record(({ messages: _, ...value }) => value), 1],
    ["messages of another kind", record((value) => ({ ...value, messages: "none" })), 1],
    ["no metadata", record(({ metadata: _, ...value }) => value), 1],
    ["metadata of another kind", record((value) => ({ ...value, metadata: { ...value.metadata, usage: [1] } })), 1],
    ["all lines at once", (bytes) => Buffer.alloc(bytes.length, "\0\0\0\n"), 1000],
  ];
  test.each(cases)("%s", async (_, damage, count) => {
    const { server, folder, again, file, before, asked } = await finishedRun();
    const whole = readFileSync(file);
    const damaged = damage(whole);
    writeFileSync(file, damaged);
    const { records, events, result } = await again();
    expect(result).toMatchObject({ failed: 0, left: 0 });
    expect(canonical(records)).toEqual(before);
    expect(server.requests().asked).toBe(asked);
    const aside = lines(readFileSync(`${file}.damaged`));
    if (count < 1000) expect(aside).toHaveLength(count);
    for (const line of aside) expect(lines(damaged)).toContain(line);
    expect(notes(events).join("\n")).toMatch(/StudentAcademicPortal\.jsonl: .*damaged lines? set aside .*line \d/);
    expect((await again()).result.finished).toBe(0);
    expect(existsSync(join(folder, "journal.jsonl.damaged"))).toBe(false);
  });

  test("the end of the file lost: nothing is set aside, and what is missing is made again", async () => {
    const { server, again, file, before, asked } = await finishedRun();
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length / 2));
    const { records } = await again();
    expect(canonical(records)).toEqual(before);
    expect(server.requests().asked).toBe(asked);
    expect(existsSync(`${file}.damaged`)).toBe(false);
  });

  test("killed while it is made again, it still costs nothing", async () => {
    const { server, folder, again, file, before, asked } = await finishedRun();
    const journal = readFileSync(join(folder, "journal.jsonl"));
    writeFileSync(file, second(() => "?")(readFileSync(file)));
    await again();
    // the journal as a kill would have left it, right after the rollout began again
    const grown = readFileSync(join(folder, "journal.jsonl")).subarray(journal.length).toString();
    const begun = grown.split("\n").slice(0, 2).join("\n");
    expect(begun).toContain('"continued":');
    writeFileSync(join(folder, "journal.jsonl"), Buffer.concat([journal, Buffer.from(`${begun}\n`)]));
    const kept = lines(readFileSync(file)).slice(0, 2);
    writeFileSync(file, join_(kept));
    const { records } = await again();
    expect(canonical(records)).toEqual(before);
    expect(server.requests().asked).toBe(asked);
  });

  test("an end that is no entry, such as an overflow, is kept", async () => {
    const folder = temporaryFolder();
    const overflow = new RolloutError("agent", "too long", { stopReason: "context_overflow" });
    const agent = scripted("Hello.", overflow);
    const models = { "test/agent": agent, "test/user": scripted("And then?", STOP) };
    const config = { datasets: [DATASET], agent_model: "test/agent", user_model: "test/user" };
    const again = () => run({ config, folder, patch: { limit: 1 }, models });
    const { records: before } = await again();
    expect(before[0]?.metadata.stop_reason).toBe("context_overflow");
    const asked = agent.requests.length;
    const file = join(folder, "trajectories", `${DATASET}.jsonl`);
    writeFileSync(file, readFileSync(file, "utf8").replace("Hello", "Hallo"));
    expect(canonical((await again()).records)).toEqual(canonical(before));
    expect(agent.requests.length).toBe(asked);
  });

  test("without a journal it starts over", async () => {
    const { server, folder, again, file, before, asked } = await finishedRun();
    writeFileSync(join(folder, "journal.jsonl"), "");
    writeFileSync(file, second(() => "{}")(readFileSync(file)));
    const { records } = await again();
    expect(canonical(records)).toEqual(before);
    expect(server.requests().asked).toBeGreaterThan(asked);
  });
});

describe("what editors and other programs do to a file is no damage", () => {
  const spaced = (line: string) => {
    const value = JSON.parse(Buffer.from(line, "latin1").toString("utf8"));
    return JSON.stringify(value, null, 1)
      .replace(/\n\s*/g, " ")
      .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  };
  const cases: [string, (bytes: Buffer) => Buffer][] = [
    ["a byte order mark", (bytes) => Buffer.concat([Buffer.from("\ufeff"), bytes])],
    ["line ends of Windows", edit((all) => all.map((line) => `${line}\r`))],
    ["blank lines", edit((all) => all.flatMap((line) => ["", line, "  "]))],
    ["no last newline", (bytes) => bytes.subarray(0, -1)],
    ["spaces and escapes, as Python writes them", edit((all) => all.map(spaced))],
    ["records without a checksum", edit((all) => all.map((line) => line.replace(/,"checksum":"[0-9a-f]{16}"/, "")))],
  ];
  test.each(cases)("%s", async (_, change) => {
    const { server, again, file, before, asked } = await finishedRun();
    writeFileSync(file, change(readFileSync(file)));
    const { result } = await again();
    expect(result.datasets).toMatchObject([{ kept: 3 }]);
    expect(result.finished).toBe(0);
    expect(existsSync(`${file}.damaged`)).toBe(false);
    const text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
    expect(text.endsWith("\n")).toBe(true);
    const records = text.split("\n").filter((line) => line.trim() !== "");
    expect(canonical(records.map((line) => JSON.parse(line)))).toEqual(before);
    expect(server.requests().asked).toBe(asked);
  });
});

describe("the other files of a run", () => {
  test("a damaged line of failures.jsonl is set aside, and the others still count", async () => {
    const { folder, again } = await finishedRun();
    const file = join(folder, "failures.jsonl");
    const failure = { id: "x", query_id: "x", rollout: 0, dataset: DATASET, attempt: 1, error: "e", kind: "k" };
    appendFileSync(file, `${JSON.stringify(failure)}\n{"id":"x","query_id":"y"}\nhalf of a li\n`);
    const { events } = await again();
    expect(lines(readFileSync(file))).toEqual([JSON.stringify(failure)]);
    expect(lines(readFileSync(`${file}.damaged`))).toEqual(['{"id":"x","query_id":"y"}', "half of a li"]);
    expect(notes(events).join("\n")).toContain("failures.jsonl: 2 damaged lines set aside");
  });

  test("a damaged prompt is set aside and written again", async () => {
    const { folder, again } = await finishedRun();
    const file = join(folder, "prompts.jsonl");
    const whole = lines(readFileSync(file)).sort();
    writeFileSync(file, edit((all) => all.map((line) => line.replace("a", "b")))(readFileSync(file)));
    writeFileSync(join(folder, "trajectories", `${DATASET}.jsonl`), "");
    await again();
    expect(lines(readFileSync(file)).sort()).toEqual(whole);
    expect(lines(readFileSync(`${file}.damaged`))).toHaveLength(whole.length);
  });

  test("a damaged line of the journal is set aside, and costs only what it held", async () => {
    const { server, folder, again, file, before, asked } = await finishedRun();
    const journal = join(folder, "journal.jsonl");
    const all = lines(readFileSync(journal));
    const replies = all.flatMap((line, index) => (line.includes('"by":"agent"') ? [index] : []));
    writeFileSync(journal, join_(all.map((line, index) => (index === replies.at(-1) ? line.slice(5) : line))));
    writeFileSync(file, join_(["", ...lines(readFileSync(file)).map((line) => line.slice(1))]));
    const { records, events } = await again();
    expect(canonical(records)).toEqual(before);
    expect(notes(events).join("\n")).toContain("journal.jsonl: 1 damaged line set aside");
    expect(server.requests().asked).toBeGreaterThan(asked);
    expect(server.requests().asked).toBeLessThan(asked + 6);
  });
});
