// Run folders as crashes, editors, other versions and other programs leave them, and files that change under the page:
// each is told in a sentence, and the rest is shown.
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AnnotationsView, DialogueView, RunCard, RunView, TableView } from "../src/viewer/api.ts";
import { single, workFolder } from "./support/cli.ts";
import { showView } from "./support/view-page.ts";
import { type MadeRecord, recordLine, scoreLine, writeRun } from "./support/view-run.ts";
import { startView, type ViewServer } from "./support/view-server.ts";

const ids = ({ rows }: TableView) => rows.map(({ id }) => id).sort();
const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const AT = "2026-03-01T00:00:00.000Z";
const remark = (queryId: string, more: object) =>
  line({ id: queryId, query_id: queryId, rollout: 0, dataset: "Desk", by: "Mei", at: AT, ...more });

async function look(name: string, server: ViewServer): Promise<{ run: RunView; table: TableView }> {
  const path = `/api/run/${encodeURIComponent(name)}`;
  const run = await server.until<RunView>(path, ({ card }) => card !== undefined && card.state !== "reading");
  const { json: table } = await server.get<TableView>(`${path}/rollouts?sort=id&order=up`);
  return { run, table };
}

test("lines that are torn, glued, changed, or no records are left out and named; the others are shown", async () => {
  const outputs = join(workFolder().path, "outputs");
  const [one, two, three] = ["q-1", "q-2", "q-3"].map((queryId) => recordLine({ queryId })) as [string, string, string];
  const broken = (metadata: object) => recordLine({ queryId: "bad", metadata });
  const damaged: { [name: string]: [line: string, why: RegExp] } = {
    torn: [`${two.slice(0, 90)}\n`, /line 2 is not a record/],
    glued: [two.slice(0, 90) + recordLine({ queryId: "lost" }), /line 2 is not a record/],
    zeros: [`${"\0".repeat(5000)}\n`, /line 2 is not a record/],
    bytes: [`${two.slice(0, 60)}\u00ff\n`, /line 2 is not a record/],
    list: ["[1,2]\n", /line 2 is not a record/],
    usage: [broken({ usage: { agent: null } }), /line 2 has broken metadata \(usage\)/],
    blame: [broken({ blame: { toString: null } }), /line 2 has broken metadata \(blame\)/],
    cost: [broken({ cost_usd: "much" }), /line 2 has broken metadata \(cost_usd\)/],
    twice: [one, /line 2 repeats a record/],
  };
  for (const [name, [text]] of Object.entries(damaged))
    writeRun(join(outputs, name), {
      Desk: one + text + three,
      Other: recordLine({ queryId: "o-1", dataset: "Other" }),
    });
  const server = await startView([outputs]);
  for (const [name, [, why]] of Object.entries(damaged)) {
    const { run, table } = await look(name, server);
    expect([name, run.notes]).toEqual([name, [expect.stringMatching(why)]]);
    expect([name, ids(table)]).toEqual([name, ["o-1", "q-1", "q-3"]]);
    expect((await server.get<DialogueView>(`/api/run/${name}/rollout/Desk/q-3`)).json.moments).toHaveLength(1);
  }
});

test("a record that does not match its checksum is shown, and said to be changed", async () => {
  const work = workFolder();
  expect((await work.run([...single("--limit", "2"), "--output-dir", "outputs/one"])).code).toBe(0);
  const file = join(work.path, "outputs/one/trajectories/StudentHealthServices.jsonl");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace('"role":"user","content":"', '"role":"user","content":"Changed. '),
  );
  const server = await startView([join(work.path, "outputs")]);
  const { table } = await look("one", server);
  expect(table.total).toBe(2);
  const notes = await Promise.all(
    ids(table).map(async (id) => {
      const { json } = await server.get<DialogueView>(`/api/run/one/rollout/StudentHealthServices/${id}`);
      return json.notes.filter((note) => note.includes("does not match its checksum")).length;
    }),
  );
  expect(notes.sort()).toEqual([0, 1]);
});

test("manifests that are missing, half written, older, newer or odd are told, and the runs beside them work", async () => {
  const outputs = join(workFolder().path, "outputs");
  const record = recordLine({ queryId: "q-1" });
  const place = (name: string) => ({ output: join(outputs, name, "trajectories", "Desk.jsonl") });
  const manifests: { [name: string]: [manifest: string, state: RunCard["state"], trouble?: RegExp] } = {
    older: [line({ format_version: 1, datasets: { Desk: place("older") } }), "finished"],
    bare: [line({ format_version: 2, datasets: { Desk: place("bare") } }), "finished"],
    newer: [line({ format_version: 99 }), "unreadable", /newer version of rollout \(format 99/],
    half: ['{"format_version":2,"data', "unreadable", /is not valid JSON/],
    nothing: ["", "unreadable", /is not valid JSON/],
    list: ["[]", "unreadable", /is not a run's manifest/],
    hollow: [line({ format_version: 1, datasets: { Desk: null } }), "unreadable", /dataset "Desk" is not whole/],
    odd: [line({ format_version: 2, datasets: { Desk: { output: 7 } } }), "unreadable", /dataset "Desk" is not whole/],
  };
  for (const [name, [manifest]] of Object.entries(manifests)) {
    writeRun(join(outputs, name), { Desk: record });
    writeFileSync(join(outputs, name, "manifest.json"), manifest);
  }
  const server = await startView([outputs]);
  const isKnown = (all: RunCard[]) => all.every(({ state }) => state !== "reading");
  const cards = await server.until<RunCard[]>("/api/runs", isKnown);
  expect(cards.map(({ name }) => name).sort()).toEqual(Object.keys(manifests).sort());
  for (const { name, state, trouble } of cards)
    expect([name, state, trouble]).toEqual([
      ...[name, manifests[name]?.[1]],
      manifests[name]?.[2] ? expect.stringMatching(manifests[name][2]) : undefined,
    ]);
  expect((await server.get<TableView>("/api/run/older/rollouts")).json.total).toBe(1);
  expect((await server.get<DialogueView>("/api/run/older/rollout/Desk/q-1")).json.moments).toHaveLength(1);

  // it is written to its end, and taken away
  writeRun(join(outputs, "half"), { Desk: record });
  await server.until<RunCard[]>("/api/runs", (all) =>
    all.some(({ name, state }) => name === "half" && state === "finished"),
  );
  rmSync(join(outputs, "half", "manifest.json"));
  const isTold = ({ name, trouble }: RunCard) => name === "half" && trouble === "there is no manifest.json";
  await server.until<RunCard[]>("/api/runs", (all) => all.some(isTold));
  expect((await server.get<TableView>("/api/run/half/rollouts")).json.total).toBe(1);
});

test("a journal of a newer version is told, and the records are shown", async () => {
  const outputs = join(workFolder().path, "outputs");
  const start = line({ type: "run-start", version: 99, at: AT, folder: "x", programVersion: "9", datasets: [] });
  writeRun(join(outputs, "one"), { Desk: recordLine({ queryId: "q-1" }) }, { "journal.jsonl": start });
  const { run, table } = await look("one", await startView([outputs]));
  expect([table.total, run.card.state]).toEqual([1, "finished"]);
  expect(run.notes).toEqual([expect.stringMatching(/journal\.jsonl.*newer version of rollout \(format 99/)]);
});

test("records of the original system, where a config's output_path has them, are shown", async () => {
  const work = workFolder();
  const outputs = join(work.path, "outputs");
  const call = { id: "c1", type: "function", function: { name: "find_book", arguments: { title: "Emma" } } };
  const original = (id: string) => ({
    ...{ id, success: true, reached_max_turns: false },
    messages: [
      { role: "user", content: "Do you have Emma?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", content: "{}", tool_call_id: "c1" },
      { role: "assistant", content: "Yes." },
    ],
  });
  writeRun(join(outputs, "one"), { Desk: "" });
  const elsewhere = join(work.path, "elsewhere.jsonl");
  const manifest = JSON.parse(readFileSync(join(outputs, "one", "manifest.json"), "utf8"));
  manifest.datasets.Desk.output = elsewhere;
  writeFileSync(join(outputs, "one", "manifest.json"), line(manifest));
  rmSync(join(outputs, "one", "trajectories", "Desk.jsonl"));
  writeFileSync(elsewhere, line(original("q-1")) + line(original("q-2")) + recordLine({ queryId: "q-3" }));
  const server = await startView([outputs]);
  const { run, table } = await look("one", server);
  expect([ids(table), run.notes]).toEqual([["q-1", "q-2", "q-3"], []]);
  expect(table.facets.tool).toEqual({ find_book: 2 });
  const { status, json } = await server.get<DialogueView>("/api/run/one/rollout/Desk/q-1");
  expect(status).toBe(200);
  expect(json.moments.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(["find_book"]);
});

test("every file may grow, shrink, be replaced, vanish and come back", async () => {
  const outputs = join(workFolder().path, "outputs");
  const folder = join(outputs, "one");
  const records = ["q-1", "q-2"].map((queryId) => recordLine({ queryId })).join("");
  const score = (pass: boolean) => ["q-1", "q-2"].map((queryId) => scoreLine({ queryId }, "actions", pass)).join("");
  const failure = (queryId: string) =>
    line({
      id: queryId,
      query_id: queryId,
      rollout: 0,
      dataset: "Desk",
      attempt: 1,
      error: "gone",
      kind: "refused",
      at: AT,
    });
  const notes = (text: string) => line({ type: "run-note", at: AT, message: text });
  writeRun(folder, { Desk: records });
  const server = await startView([outputs]);
  const rows = (isRight: (view: TableView) => boolean) =>
    server.until<TableView>("/api/run/one/rollouts?sort=id&order=up", (view) => view.isWhole && isRight(view));
  const isAll = (member: "verdict" | "annotation", word: string) => (view: TableView) =>
    view.rows.length === 2 && view.rows.every((row) => row[member] === word);
  const runs = (isRight: (view: RunView) => boolean) => server.until<RunView>("/api/run/one", isRight);
  const cases: [
    file: string,
    first: string,
    other: string,
    seen: [unknown, unknown, unknown],
    see: (wanted: never) => unknown,
  ][] = [
    [
      ...(["scores.jsonl", score(true), score(false), ["solved", "failed", "not scored yet"]] as const),
      (word: string) => rows(isAll("verdict", word)),
    ] as never,
    [
      ...(["annotations.jsonl", remark("q-1", { verdict: "accept" }) + remark("q-2", { verdict: "accept" })] as const),
      ...([
        remark("q-1", { verdict: "reject" }) + remark("q-2", { verdict: "reject" }),
        ["accept", "reject", "none"],
      ] as const),
      (word: string) => rows(isAll("annotation", word)),
    ] as never,
    [
      ...(["failures.jsonl", failure("q-8"), failure("q-9"), ["q-8", "q-9", undefined]] as const),
      (id: string | undefined) => runs(({ failures }) => failures[0]?.example?.id === id),
    ] as never,
    [
      ...([
        "journal.jsonl",
        `${notes("a")}{broken}\n`,
        `{broken}\n${notes("b")}`,
        ["line 2", "line 1", undefined],
      ] as const),
      (where: string | undefined) =>
        runs((view) => (where === undefined ? view.notes.length === 0 : (view.notes[0]?.includes(where) ?? false))),
    ] as never,
  ];
  for (const [file, first, other, [seenFirst, seenOther, seenNone], see] of cases) {
    const path = join(folder, file);
    const part = first.slice(0, first.indexOf("\n") + 20);
    writeFileSync(path, part); // a whole line, and the next one half written
    appendFileSync(path, first.slice(part.length));
    await see(seenFirst as never);
    writeFileSync(`${path}.new`, other);
    renameSync(`${path}.new`, path);
    await see(seenOther as never);
    truncateSync(path, 0);
    await see(seenNone as never);
    writeFileSync(path, other);
    await see(seenOther as never);
    rmSync(path);
    await see(seenNone as never);
    writeFileSync(path, first);
    await see(seenFirst as never);
    rmSync(path);
    await see(seenNone as never);
  }
  const file = join(folder, "trajectories", "Desk.jsonl");
  writeFileSync(file, recordLine({ queryId: "q-3" })); // in place, shorter
  await rows((view) => ids(view).join() === "q-3");
  rmSync(join(folder, "trajectories"), { recursive: true });
  await rows(({ total }) => total === 0);
  mkdirSync(join(folder, "trajectories"));
  writeFileSync(file, records);
  await rows((view) => ids(view).join() === "q-1,q-2");
  renameSync(folder, join(outputs, "away"));
  await server.until<RunCard[]>("/api/runs", (all) => all.map(({ name }) => name).join() === "away");
  renameSync(join(outputs, "away"), folder);
  await rows((view) => ids(view).join() === "q-1,q-2");
});

test("the rounds of a question set may come, vanish and move elsewhere", async () => {
  const work = workFolder();
  const folder = join(work.path, "outputs", "one");
  writeRun(folder, { Desk: "" });
  rmSync(join(folder, "trajectories"), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const writeManifest = (output: string) => {
    manifest.datasets.Desk.output = output;
    writeFileSync(join(folder, "manifest.json.new"), line(manifest));
    renameSync(join(folder, "manifest.json.new"), join(folder, "manifest.json"));
  };
  writeManifest(join(folder, "iter{round}.jsonl"));
  const round = (number: number) => join(folder, `iter${number}.jsonl`);
  const write = (number: number) =>
    writeFileSync(
      round(number),
      recordLine({ queryId: "q", rollout: number - 1 }) + recordLine({ queryId: "r", rollout: number - 1 }),
    );
  for (const number of [1, 2, 3]) write(number);
  const server = await startView([join(work.path, "outputs")]);
  const see = (total: number) =>
    server.until<TableView>("/api/run/one/rollouts", (view) => view.isWhole && view.total === total);
  await see(6);
  rmSync(round(2));
  await see(4);
  expect((await server.get("/api/run/one/rollout/Desk/q%231")).status).toBe(404);
  write(2);
  await see(6);
  const elsewhere = join(work.path, "elsewhere.jsonl");
  writeFileSync(elsewhere, recordLine({ queryId: "q" }));
  for (const number of [1, 2, 3]) rmSync(round(number));
  writeManifest(elsewhere);
  await see(1);
  expect((await server.get<RunView>("/api/run/one")).json.notes).toEqual([]);
});

test("a dialogue whose file was just cut off or replaced is told from the one that was asked for", async () => {
  const outputs = join(workFolder().path, "outputs");
  const file = join(outputs, "one", "trajectories", "Desk.jsonl");
  const many = Array.from({ length: 50 }, (_, at) => recordLine({ queryId: `q-${at}` })).join("");
  writeRun(join(outputs, "one"), { Desk: many });
  const server = await startView([outputs]);
  await look("one", server);
  for (const change of [
    () => truncateSync(file, 700),
    () => writeFileSync(file, many.replaceAll("q-4", "x-4")),
    () => rmSync(file),
  ]) {
    change();
    const { status, json } = await server.get<DialogueView & { error?: string }>("/api/run/one/rollout/Desk/q-49");
    if (status === 200) expect(JSON.stringify(json)).not.toContain("x-4");
    else expect([status, json.error]).toEqual([404, expect.stringMatching(/no such run or rollout/)]);
    writeFileSync(file, many);
    await server.until<TableView>("/api/run/one/rollouts", ({ total }) => total === 50);
  }
});

test("scores of an earlier check, of other records and of none are told apart from no scores", async () => {
  const outputs = join(workFolder().path, "outputs");
  const [one, two] = [{ queryId: "q-1" }, { queryId: "q-2" }];
  const earlier = scoreLine(one, "actions", false).replace('"version":1', '"version":0');
  const future = line({ ...JSON.parse(scoreLine(one, "made-up", true)), version: 99, more: { of: "it" } });
  writeRun(
    join(outputs, "one"),
    { Desk: recordLine(one) + recordLine(two) },
    {
      "scores.jsonl": `${earlier}${scoreLine(one, "actions", true)}${future}${scoreLine({ queryId: "none" }, "actions", true)}{"id":"torn`,
    },
  );
  const server = await startView([outputs]);
  const { table, run } = await look("one", server);
  expect(table.rows.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(["q-1 solved", "q-2 not scored yet"]);
  expect(run.notes).toEqual([]);
  const { json } = await server.get<DialogueView>("/api/run/one/rollout/Desk/q-1");
  expect(json.checks.map(({ check }) => check).sort()).toEqual(["actions", "made-up"]);
});

test("annotations that are torn, odd or about nothing are told; two servers write at once and lose nothing", async () => {
  const outputs = join(workFolder().path, "outputs");
  const file = join(outputs, "one", "annotations.jsonl");
  const text = `${remark("q-1", { verdict: "accept", mood: "sunny", level: 3 })}${remark("gone", { verdict: "reject" })}{"id":"q-1","by\n${remark("q-1", { verdict: "perhaps", by: "Ann" })}{"id":"q-1","query_id":"q-1","rol`;
  writeRun(join(outputs, "one"), { Desk: recordLine({ queryId: "q-1" }) }, { "annotations.jsonl": text });
  const servers = [await startView([outputs]), await startView([outputs])];
  const { run, table } = await look("one", servers[0] as ViewServer);
  expect(table.rows[0]?.annotation).toBe("accept");
  expect(run.notes).toEqual([
    expect.stringMatching(/annotations\.jsonl: 2 damaged lines left out \(line 3 .*line 4 has an unknown verdict/),
  ]);
  const sent = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      servers[at % 2]?.send("/api/run/one/annotations", {
        ...{ dataset: "Desk", id: "q-1", by: `reader ${at}`, verdict: "reject", note: "x".repeat(at * 100) },
      }),
    ),
  );
  expect(new Set(sent.map((answer) => answer?.status))).toEqual(new Set([200]));
  // both may have begun a new line after the torn one: an empty line says nothing
  const written = readFileSync(file, "utf8").split("\n").slice(5).filter(Boolean);
  expect(new Set(written.map((one) => (JSON.parse(one) as { by: string }).by)).size).toBe(60);
  for (const { until } of servers)
    await until<AnnotationsView>(
      "/api/run/one/rollout/Desk/q-1/annotations",
      ({ annotations }) => annotations.length === 61,
    );
});

const NAMES = [
  "a b",
  "100%",
  "a%2Fb",
  "a#b?c&d=e",
  "a+b",
  "line\nbreak",
  "\u202eright to left\u202c",
  "日本語 🎈",
  "<b>bold</b>",
  "'\"`$(x)",
  "back\\slash",
  "~",
  "x".repeat(200),
];

test("runs, datasets and rollouts with odd names are found under them, on the page too", async () => {
  const outputs = join(workFolder().path, "outputs");
  const made: MadeRecord[] = [...NAMES, "y".repeat(3000)].map((queryId) => ({ queryId }));
  for (const name of NAMES) writeRun(join(outputs, name), { Desk: made.map((record) => recordLine(record)).join("") });
  const server = await startView([outputs]);
  const cards = await server.until<RunCard[]>("/api/runs", (all) => all.every(({ state }) => state === "finished"));
  expect(cards.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
  for (const name of NAMES) {
    const path = `/api/run/${encodeURIComponent(name)}`;
    expect([name, (await server.get<RunView>(path)).json.card?.done]).toEqual([name, made.length]);
  }
  for (const { queryId } of made) {
    const path = `/api/run/a%20b/rollout/Desk/${encodeURIComponent(queryId)}`;
    expect([queryId, (await server.get<DialogueView>(path)).json.id]).toEqual([queryId, queryId]);
    expect((await server.get(`${path}/annotations`)).status).toBe(200);
  }
  const { page, goto } = await showView(server);
  for (const name of NAMES) {
    await goto("/");
    await page
      .locator(`tbody th a[href="/run/${encodeURIComponent(name).replaceAll("'", "\\'")}"]`)
      .first()
      .click();
    await page
      .locator("main h1")
      .filter({ hasText: name.split("\n")[0] as string })
      .waitFor();
  }
});

test("two runs of one name in different folders, an empty one, one without records, and one in a group are all there", async () => {
  const work = workFolder();
  const folder = (path: string) => join(work.path, path);
  writeRun(folder("a/one"), { Desk: recordLine({ queryId: "in-a" }) });
  writeRun(folder("b/one"), { Desk: recordLine({ queryId: "in-b" }) });
  writeRun(folder("b/empty"), { Desk: "" });
  writeRun(folder("b/none"), {});
  writeRun(folder("b/group/one"), { Desk: recordLine({ queryId: "in-group" }) });
  const server = await startView([folder("a"), folder("b"), folder("b/one")]);
  const cards = await server.until<RunCard[]>("/api/runs", (all) => all.every(({ state }) => state === "finished"));
  expect(cards.map(({ name }) => name).sort()).toEqual(["empty", "group/one", "none", "one", "one~2"]);
  const found = await Promise.all(
    ["one", "one~2", "group/one", "empty", "none"].map(async (name) => ids((await look(name, server)).table).join()),
  );
  expect(found).toEqual(["in-a", "in-b", "in-group", "", ""]);
});

test("a tool result of 10 MB and a dialogue of 5,000 messages are shown, and the server goes on", async () => {
  const outputs = join(workFolder().path, "outputs");
  const call = { id: "c1", type: "function", function: { name: "dump", arguments: "{}" } };
  const huge = [
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", content: "z".repeat(10e6), tool_call_id: "c1" },
    { role: "assistant", content: "Done." },
  ];
  const long = Array.from({ length: 5000 }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: `word ${at}`,
  }));
  const records = [recordLine({ queryId: "huge", messages: huge }), recordLine({ queryId: "long", messages: long })];
  writeRun(join(outputs, "one"), { Desk: `${records.join("")}${recordLine({ queryId: "small" })}` });
  const server = await startView([outputs]);
  expect((await look("one", server)).table.total).toBe(3);
  const answer = await server.get<DialogueView>("/api/run/one/rollout/Desk/huge");
  expect(JSON.stringify(answer.json).length).toBeLessThan(1e6);
  expect((await server.get<DialogueView>("/api/run/one/rollout/Desk/long")).json.moments).toHaveLength(5000);
  const { page, goto } = await showView(server);
  await goto("/run/one/rollout/Desk/huge");
  await page.getByText("Done.").waitFor();
  await goto("/run/one/rollout/Desk/long");
  await page.getByText("word 4999").first().waitFor();
  await goto("/run/one/rollouts?text=word+4999");
  await page.getByRole("heading", { name: "1 of 3 rollouts" }).waitFor();
});

test("a run with more rollouts than fit into memory says so, and shows those that do", async () => {
  const outputs = join(workFolder().path, "outputs");
  const many = Array.from({ length: 150_000 }, (_, at) => recordLine({ queryId: `query number ${at}` })).join("");
  writeRun(join(outputs, "large"), { Desk: many });
  writeRun(join(outputs, "small"), { Desk: recordLine({ queryId: "q-1" }) });
  const server = await startView([outputs], { env: { NODE_OPTIONS: "--max-old-space-size=96" } });
  const { run, table } = await look("large", server);
  expect(run.notes).toEqual([
    expect.stringMatching(
      /Desk\.jsonl: only its first \d+ lines fit into memory.*NODE_OPTIONS=--max-old-space-size=\d+/,
    ),
  ]);
  expect(table.total).toBeGreaterThan(1000);
  expect(table.total).toBeLessThan(150_000);
  expect(run.totals.secondsElapsed).toBe(0);
  expect((await look("small", server)).table.total).toBe(1);
});
