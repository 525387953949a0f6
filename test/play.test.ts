import { expect, onTestFinished, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { type Running, type WorkFolder, workFolder } from "./support/cli.ts";
import { DESK_RUN, writeDesk } from "./support/desk-dataset.ts";
import { PHONE_FILE, writePhones } from "./support/phone-dataset.ts";

const OUTPUT = "out/trajectories/Desk.jsonl";
const AS_AGENT = ["play", ...DESK_RUN, "--as", "agent", "--user-model", "scripted/user"];
const AS_USER = ["play", ...DESK_RUN, "--as", "user", "--agent-model", "scripted/agent"];

function type({ child }: Running, ...lines: string[]): void {
  child.stdin?.write(lines.map((line) => `${line}\n`).join(""));
}

function untilPrinted({ child }: Running, text: string): Promise<void> {
  let printed = "";
  return new Promise((resolve) =>
    child.stdout?.on("data", (more: string) => {
      printed += more;
      if (printed.includes(text)) resolve();
    }),
  );
}

function play(work: WorkFolder, args: string[], ...lines: string[]) {
  const running = work.start(args);
  type(running, ...lines);
  running.child.stdin?.end();
  return running.finished;
}

function only(work: WorkFolder, file = OUTPUT): Trajectory {
  const records = work.records(file);
  expect(records).toHaveLength(1);
  return records[0] as Trajectory;
}

const callsOf = ({ messages }: Trajectory) =>
  messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));

test("a person plays the agent: tools are called for real, several at once too, and the record is like any other, scored", async () => {
  const work = workFolder();
  writeDesk(work);
  const { code, stdout, stderr } = await play(
    work,
    [...AS_AGENT, "--eval"],
    "/tools book_desk",
    "/policy",
    "/and list_desks {}",
    '/call book_desk {"name": "Ada", "number": 9007199254740993, "size": 3, "height": 1.0}',
    "/say /dev/desk is free.",
    "First line \\",
    "second line",
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("You are the agent. d1 of Desk");
  expect(stdout).toContain("number (whole number, needed)");
  expect(stdout).toContain("Book one desk for each person.");
  expect(stdout).toContain("user  The large one.");
  expect(stdout).toContain("d1 ended: user_stop");
  const record = only(work);
  expect(record.metadata.models).toMatchObject({ agent: "human", user: "scripted/user" });
  expect(callsOf(record).map(({ function: called }) => [called.name, called.arguments])).toEqual([
    ["list_desks", "{}"],
    ["book_desk", '{"name": "Ada", "number": 9007199254740993, "size": 3, "height": 1.0}'],
  ]);
  expect(record.messages.map(({ role, content }) => (role === "tool" ? role : `${role}: ${content}`))).toEqual([
    "user: Hello, this is d1.",
    "assistant: ",
    "tool",
    "tool",
    "assistant: /dev/desk is free.",
    "user: The large one.",
    "assistant: First line \nsecond line",
    "user: Thanks.",
  ]);
  expect(work.records<{ id: string }>("out/scores.jsonl").length).toBeGreaterThan(0);
});

test("a call without JSON asks for each parameter by its schema, until it fits", async () => {
  const work = workFolder();
  writeDesk(work);
  const form = ["Ada", "tall", "1.50", "", "9007199254740993", "medium", "large", "yes", "true", "a", "b", ""];
  const { stdout } = await play(
    work,
    AS_AGENT,
    "/call book_desk",
    ...form,
    '{"room": "x"}', // is JSON, and still not what the schema asks for
    "",
    "",
    "/call book_desk",
    "/cancel",
    "/call book_desk",
    ...["Ada", "1.50", "9007199254740993", "large", "true", "a", "b", "", '{"room": 4}', "", '"left"'],
    "Booked.",
    "Bye.",
  );
  expect(stdout).toContain("height must be number");
  expect(stdout).toContain("number is needed");
  expect(stdout).toContain("size must be one of small, large, 3");
  expect(stdout).toContain("lit must be true or false");
  expect(stdout).toContain('"at.room" must be integer');
  expect(stdout).toContain("No call was made.");
  expect(callsOf(only(work)).map(({ function: called }) => called.arguments)).toEqual([
    '{"name":"Ada","height":1.50,"number":9007199254740993,"size":"large","lit":true,"tags":["a","b"],"at":{"room": 4},"either":"left"}',
  ]);
});

test("what a person mistypes is said to them, and nothing of it is in the record", async () => {
  const work = workFolder();
  writeDesk(work);
  const wrong = [
    "",
    "/nope",
    "/call",
    "/call bok_desk {}",
    "/call book_desk {",
    '/call book_desk {"name": 1}',
    "/stop",
    "/say",
  ];
  const { stdout } = await play(work, AS_AGENT, ...wrong, "Which one?", "Yours.");
  expect(stdout).toContain("There is no command /nope on this seat");
  expect(stdout).toContain('There is no tool named "bok_desk"; did you mean "book_desk"?');
  expect(stdout).toContain("are not valid JSON");
  expect(stdout).toContain('"name" must be string');
  const record = only(work);
  expect(callsOf(record)).toEqual([]);
  expect(record.metadata.faults).toEqual([]);
  expect(record.messages.map(({ content }) => content)).toContain("Which one?");
});

test.each([
  ["/stop That is all.", "user_stop", "That is all."],
  ["/transfer", "user_transfer", undefined],
  ["/out Never mind.", "user_out_of_scope", "Never mind."],
])("a person plays the user and ends with %s", async (line, reason, last) => {
  const work = workFolder();
  writeDesk(work);
  const { code, stdout } = await play(work, AS_USER, "/scenario", "The large one.", line);
  expect(code).toBe(0);
  expect(stdout).toContain("You want an item.");
  expect(stdout).toContain("agent  Which desk do you want?");
  const { messages, metadata } = only(work);
  expect(metadata.models).toMatchObject({ agent: "scripted/agent", user: "human" });
  expect(metadata.stop_reason).toBe(reason);
  expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "Hello, this is d1.",
    "The large one.",
    ...(last === undefined ? [] : [last]),
  ]);
});

test("words that only an agent would say are not passed on, and the person is told why", async () => {
  const work = workFolder();
  writeDesk(work);
  const { stdout } = await play(work, AS_USER, "How can I help you today?", "The large one.", "/stop");
  expect(stdout).toContain("Your last answer was not passed on: it sounds like the agent");
  const { messages, metadata } = only(work);
  expect(metadata.stop_reason).toBe("user_stop");
  expect(messages.map(({ content }) => content)).not.toContain("How can I help you today?");
});

test.each(["SIGKILL", "SIGINT"] as const)(
  "a seat that %s ended goes on where it was, by the same command",
  async (signal) => {
    const work = workFolder();
    writeDesk(work);
    const words = ["/call list_desks {}", "Which one?", "It is yours."];
    await play(work, [...AS_AGENT, "--output-dir", "whole"], ...words);
    const first = work.start(AS_AGENT);
    const asked = untilPrinted(first, "The large one.");
    type(first, ...words.slice(0, 2));
    await asked;
    first.child.kill(signal);
    const { code, stderr } = await first.finished;
    if (signal === "SIGINT") {
      expect(code).toBe(130);
      expect(stderr).toContain("To continue later: npx rollout resume out");
    }
    expect(work.has(OUTPUT) && work.read(OUTPUT)).toBeFalsy();
    const { stdout } = await play(work, AS_AGENT, words[2] as string);
    expect(stdout).toContain("agent  Which one?"); // what was said before is shown again
    expect(work.canonical(OUTPUT)).toEqual(work.canonical("whole/trajectories/Desk.jsonl"));
  },
);

test("lines that end too early park the seat; rollout resume takes it again; the next play begins anew", async () => {
  const work = workFolder();
  writeDesk(work);
  const parked = await play(work, AS_USER);
  expect(parked.code).toBe(130);
  const resumed = await play(work, ["resume", "out"], "/stop");
  expect(resumed).toMatchObject({ code: 0, stderr: "" });
  expect(only(work).metadata.models).toMatchObject({ user: "human" });
  const again = await play(work, AS_USER, "/transfer");
  expect(again.code).toBe(0);
  expect(only(work).metadata.stop_reason).toBe("user_stop");
  expect(only(work, "out.2/trajectories/Desk.jsonl").metadata.stop_reason).toBe("user_transfer");
});

test("in a combination the user's own tools are called from the user's seat, and only those", async () => {
  const work = workFolder();
  writePhones(work);
  const seat = ["play", "Carrier,Phone", "p2", "--base-path", "phones", "--output-dir", "out", "--as", "user"];
  const against = [...seat, "--agent-model", "scripted/agent"];
  const { stdout: listed } = await play(work, against, "/tools");
  const name = /^\S*set_airplane_mode/m.exec(listed)?.[0] as string;
  const lines = ["/call get_line {}", `/call ${name}`, "no", "It is off now.", "/stop"];
  const { stdout, code } = await play(work, against, ...lines);
  expect(code).toBe(0);
  expect(stdout).toContain('There is no tool named "get_line"');
  const [record] = work.records(PHONE_FILE);
  expect(record?.other_calls?.filter(({ party }) => party === "user")).toMatchObject([
    { name, arguments: '{"on":"no"}' },
  ]);
});

test("at the step limit no tool can be called: the person is told, and answers in words", async () => {
  const work = workFolder();
  writeDesk(work);
  const limited = [...AS_AGENT, "--max-steps-per-turn", "1"];
  const { stdout } = await play(work, limited, "/call list_desks {}", "/call list_desks {}", "Which one?", "Yours.");
  expect(stdout).toContain("No tool can be called now: answer in plain words.");
  expect(callsOf(only(work))).toHaveLength(1);
});

test("a config's dataset is played against a model over the network, which may fail and be tried again", async () => {
  const work = workFolder();
  writeDesk(work);
  const server = work.start(["mock-llm", "--port", "0", "--base-path", "desk", "--faults", "500@1"]);
  onTestFinished(() => void server.child.kill());
  const address = await new Promise<string>((resolve) => {
    let printed = "";
    server.child.stdout?.on("data", (text: string) => {
      printed += text;
      const found = /http:[^\s,]+/.exec(printed)?.[0];
      if (found) resolve(found);
    });
  });
  work.write(
    "desk.yml",
    `base_path: desk\noutput_dir: out\ndatasets:\n  Desk:\n    output_path: mine.jsonl\n    agent: { model: openai/scripted-agent, api_base: ${address}, api_key: x }\n`,
  );
  const run = ["play", "Desk", "d2", "--config", "desk.yml", "--as", "user"];
  const { code, stdout } = await play(work, run, "The large one.", "/stop");
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("agent  Which desk do you want?"),
  });
  expect(work.names()).toEqual(["desk", "desk.yml", "outputs"]); // the config's own outputs are left alone
  const record = only(work, "outputs/play/Desk-d2-user/trajectories/Desk.jsonl");
  expect(record).toMatchObject({ query_id: "d2", metadata: { models: { user: "human" } } });
});

test("a wrong domain, query, seat or model is said before anything is written", async () => {
  const work = workFolder();
  writeDesk(work);
  for (const [args, said] of [
    [["play", "Desc", "--base-path", "desk", "--as", "user"], "Desc"],
    [["play", "Desk", "d9", ...AS_USER.slice(2)], "d9"],
    [["play", "Desk", "--base-path", "desk"], "--as"],
    [["play", "Desk", "--base-path", "desk", "--as", "judge"], "judge"],
    [[...AS_USER, "--user-model", "scripted/user"], "You are the user: leave out --user-model"],
  ] as const) {
    const { code, stderr } = await work.run([...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  }
  expect(work.names()).toEqual(["desk"]);
});
