// `--split i/n` in the built program: shares that machines make apart, and that together are the run made without it.
import { expect, onTestFinished, test } from "vitest";
import { single, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, serveModel } from "./support/model-server.ts";

const QUESTIONS = Array.from({ length: 17 }, (_, n) => ({ id: `q${n}`, question: `What is ${n} + 1?`, answer: n + 1 }));

function prepared(questions: object[] = QUESTIONS): WorkFolder {
  const work = workFolder();
  writeQuestions(work, questions);
  return work;
}

function writeQuestions(work: WorkFolder, questions: object[]): void {
  work.write("questions.jsonl", questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
}

const multi = (out: string, ...more: string[]) => [
  ...["multi", "--input", "questions.jsonl", "--output", out, "--quiet", "--agent-model", "scripted/agent?skill=0.6"],
  ...more,
];
const TRAJECTORIES = "trajectories/StudentHealthServices.jsonl";
const idsIn = (work: WorkFolder, file: string) => (work.has(file) ? work.records(file).map(({ id }) => id) : []);

test("the shares of a run are apart and together the run without them: same ids, same seeds, same records", async () => {
  const work = workFolder();
  const share = (index: number) => single("--rollouts", "2", "--split", `${index}/4`, "--output-dir", `s${index}`);
  for (const index of [1, 2, 3, 4]) expect(await work.run(share(index))).toMatchObject({ code: 0, stderr: "" });
  await work.run(single("--rollouts", "2", "--output-dir", "whole"));
  const shares = [1, 2, 3, 4].map((index) => work.canonical(`s${index}/${TRAJECTORIES}`));
  const whole = work.canonical(`whole/${TRAJECTORIES}`);
  for (const records of shares) expect(records.length).toBeGreaterThan(0);
  const all = shares.flat() as { id: string }[];
  expect(all.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(whole);
});

test("what is added at the end moves nothing between shares, and more rollouts are made in each share", async () => {
  const work = prepared();
  await work.run(multi("s2", "--split", "2/3", "--rollouts", "2"));
  const [before, first] = [work.read("s2/iter1.jsonl"), idsIn(work, "s2/iter1.jsonl")];
  const news = Array.from({ length: 9 }, (_, n) => ({ id: `new${n}`, question: "New?", answer: n }));
  writeQuestions(work, [...QUESTIONS, ...news]);
  expect(await work.run(multi("s2", "--split", "2/3", "--rollouts", "3"))).toMatchObject({ code: 0, stderr: "" });
  expect(work.read("s2/iter1.jsonl").startsWith(before)).toBe(true);
  const added = idsIn(work, "s2/iter1.jsonl").slice(first.length);
  expect(added).toHaveLength(3);
  expect(added.every((id) => id.startsWith("new"))).toBe(true);
  expect(work.records("s2/iter3.jsonl")).toHaveLength(first.length + added.length);
});

test("questions that would move to another share are told before anything is made; without --split all is made there", async () => {
  const work = prepared();
  const share = multi("s2", "--split", "2/3", "--rollouts", "1");
  await work.run(share);
  const before = work.read("s2/iter1.jsonl");
  for (const questions of [[{ id: "new", question: "New?", answer: 1 }, ...QUESTIONS], QUESTIONS.slice(1)]) {
    writeQuestions(work, questions);
    for (const command of [share, ["resume", "s2"]]) {
      const { code, stderr } = await work.run(command);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/query "q\d+" was made in share 2\/3 and is in another one now/),
      ]);
    }
  }
  expect(work.read("s2/iter1.jsonl")).toBe(before);
  expect(await work.run(multi("s2", "--rollouts", "1"))).toMatchObject({ code: 0, stderr: "" });
  expect(idsIn(work, "s2/iter1.jsonl")).toEqual(expect.arrayContaining(QUESTIONS.slice(1).map(({ id }) => id)));
});

test("a share that is killed is resumed as that share, also with more rollouts, and its folder takes no other", async () => {
  const work = prepared();
  const server = await serveModel((response) => {
    const text = JSON.stringify(completion({ content: "4" }));
    setTimeout(() => response.setHeader("content-type", "application/json").end(text), 30);
  });
  onTestFinished(() => server.close());
  const entry = { provider: "openai", api_base: server.baseUrl, api_key: "none" };
  work.write("models.yml", JSON.stringify({ models: { local: entry } }));
  const model = ["--agent-model", "openai/local", "--models-config", "models.yml", "--workers", "2"];
  const { child, finished } = work.start(multi("s1", "--split", "1/2", "--rollouts", "2", ...model));
  await work.until("s1/iter1.jsonl");
  child.kill("SIGKILL");
  await finished;
  expect((await work.run(["resume", "s1", "--quiet"])).code).toBe(0);
  await work.run(multi("s2", "--split", "2/2", "--rollouts", "2", ...model));
  const [one, two] = ["s1", "s2"].map((folder) => idsIn(work, `${folder}/iter1.jsonl`));
  expect([...(one ?? []), ...(two ?? [])].sort()).toEqual(QUESTIONS.map(({ id }) => id).sort());
  expect(idsIn(work, "s1/iter2.jsonl").sort()).toEqual(one?.map((id) => `${id}#1`).sort());
  expect((await work.run(["resume", "s1", "--rollouts", "3", "--quiet"])).code).toBe(0);
  expect(idsIn(work, "s1/iter3.jsonl")).toHaveLength(one?.length ?? 0);
  expect(JSON.parse(work.read("s1/manifest.json")).config).toMatchObject({ split: "1/2", rollouts: 3 });
  const refused = await work.run(["resume", "s1", "--split", "2/2"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("s1 holds share 1/2 of a run") });
  expect((await work.run(multi("s1", "--split", "2/2", ...model))).code).toBe(2);
});

test("a share is one of what the other flags choose", async () => {
  const work = prepared();
  for (const index of [1, 2, 3])
    await work.run(multi(`s${index}`, "--rollouts", "1", "--limit", "7", "--split", `${index}/3`));
  const made = [1, 2, 3].flatMap((index) => idsIn(work, `s${index}/iter1.jsonl`));
  expect(made.sort()).toEqual(QUESTIONS.slice(0, 7).map(({ id }) => id));
});

test("status, dry run and result say that it is a share; one without queries is an ordinary run", async () => {
  const work = prepared();
  const dry = await work.run(multi("s1", "--split", "1/3", "--rollouts", "2", "--dry-run"));
  const [, size] = /Share 1\/3: (\d+) of 17 queries\./.exec(dry.stdout) ?? [];
  expect(Number(size)).toBeGreaterThan(0);
  const made = await work.run(multi("s1", "--split", "1/3", "--rollouts", "2").filter((word) => word !== "--quiet"));
  expect(made.stdout).toContain("rollout merge s1");
  expect(work.records("s1/iter1.jsonl")).toHaveLength(Number(size));
  expect((await work.run(["status", "s1"])).stdout).toMatch(/^s1 \(share 1\/3\): finished/);
  expect(JSON.parse((await work.run(["status", "s1", "--json"])).stdout)).toMatchObject({
    split: "1/3",
    totals: { planned: 2 * Number(size), done: 2 * Number(size) },
  });
  writeQuestions(work, QUESTIONS.slice(0, 1));
  const empty = await Promise.all(
    [1, 2].map(async (index) => {
      const command = multi(`e${index}`, "--split", `${index}/2`).filter((word) => word !== "--quiet");
      return { ...(await work.run(command)), index };
    }),
  );
  expect(empty.map(({ code }) => code)).toEqual([0, 0]);
  const none = empty.filter(({ index }) => idsIn(work, `e${index}/iter1.jsonl`).length === 0);
  expect(none).toHaveLength(1);
  expect(`${none[0]?.stdout}${none[0]?.stderr}`).toContain(`none of its queries is in share ${none[0]?.index}/2`);
});

test.each(["6/5", "0/3", "2", "1/0", "x/y", "2/3/4"])("a share that is none is wrong usage: %s", async (split) => {
  const work = prepared();
  const flag = await work.run(multi("out", "--split", split));
  expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining("must be a share such as 2/5") });
  work.write("run.yml", JSON.stringify({ split, datasets: ["StudentHealthServices"] }));
  const key = await work.run(["run", "--config", "run.yml"]);
  expect(key).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^run\.yml:1:\d+: split must be a share such as 2\/5/),
  });
  expect(work.names()).toEqual(["questions.jsonl", "run.yml"]);
});
