// One dialogue on the page, in a real browser over real runs.
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { single, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, type ModelAnswer, serveModel } from "./support/model-server.ts";
import { serveScripted } from "./support/network-run.ts";
import { PHONE, writePhones } from "./support/phone-dataset.ts";
import { SCRIPTED } from "./support/shop-dataset.ts";
import { openView } from "./support/view-page.ts";

const pathOf = (dataset: string, id: string, run = "out") =>
  `/run/${encodeURIComponent(run)}/rollout/${dataset}/${encodeURIComponent(id)}`;

type Score = {
  id: string;
  check: string;
  pass: boolean | null;
  reason: string;
  details?: { broken?: { at: number }[] };
};

test("a dialogue reads as a conversation, and its checks lead to the messages that decided them", async () => {
  const work = workFolder();
  const agent = "scripted/agent?skill=0.6";
  const { code } = await work.run(single("--agent-model", agent, "--rollouts", "3", "--limit", "9", "--eval"));
  expect(code).toBe(0);
  const scores = work.records<Score>("out/scores.jsonl");
  const broken = scores.find(({ check, pass }) => check === "policy" && pass === false) as Score;
  const at = broken.details?.broken?.[0]?.at as number;
  const records = work.records("out/trajectories/StudentHealthServices.jsonl");
  const record = records.find(({ id }) => id === broken.id) as Trajectory;
  const { page, goto, texts } = await openView(work.path);
  await goto(pathOf("StudentHealthServices", broken.id));

  // each message, in order, and each call with its own result
  const spoken = record.messages.flatMap(({ role }) =>
    role === "user" ? ["User"] : role === "assistant" ? ["Agent"] : [],
  );
  expect(await texts(".moment h3")).toEqual(spoken);
  const calls = record.messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  expect(await texts(".call-head strong")).toEqual(calls.map((call) => call.function.name));
  expect(await page.locator(".call .result").count()).toBe(calls.length);
  expect(await page.locator(".moment .spent").count()).toBeGreaterThan(spoken.length - 2); // the opening took nothing

  // a broken rule names the message, and a click leads there
  const policy = page.locator("#check-policy");
  expect(await policy.textContent()).toContain(broken.reason);
  await policy
    .getByRole("link", { name: `message ${at}` })
    .first()
    .click();
  expect(new URL(page.url()).hash).toBe(`#m${at}`);
  expect(await page.locator(`#m${at}`).textContent()).toContain("Decided:");
  expect(await page.evaluate("document.querySelector(':target')?.id")).toBe(`m${at}`);

  // reasoning is folded, one key unfolds all of it, and the same key folds it
  const thought = record.messages.find((message) => message.role === "assistant" && message.reasoning_content);
  const thinks = (thought as { reasoning_content: string }).reasoning_content;
  await expect(page.getByText(thinks).first().isVisible()).resolves.toBe(false);
  await page.keyboard.press("r");
  await page.getByText(thinks).first().waitFor({ state: "visible" });
  await page.keyboard.press("r");
  await page.getByText(thinks).first().waitFor({ state: "hidden" });

  // prompt and tools are one key away
  await page.keyboard.press("i");
  await page.locator(".tool summary", { hasText: calls[0]?.function.name }).first().waitFor({ state: "visible" });

  // through the messages, and to the other rollouts of the query and back
  await goto(pathOf("StudentHealthServices", broken.id));
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(await page.evaluate("document.activeElement?.id")).toBe("m1");
  await page.keyboard.press("k");
  expect(await page.evaluate("document.activeElement?.id")).toBe("m0");
  await page.keyboard.press("f");
  expect(await page.evaluate('document.activeElement?.textContent?.includes("Decided:")')).toBe(true);
  const siblings = await texts(".siblings li > a:first-child");
  expect(siblings).toHaveLength(3);
  const own = siblings.indexOf(broken.id);
  const [key, next] = own < 2 ? ["n", siblings[own + 1]] : ["p", siblings[own - 1]];
  await page.keyboard.press(key as string);
  await page.getByRole("heading", { level: 1, name: next as string, exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: broken.id, exact: true }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  expect(await texts(".keys dd")).toContain("next rollout of this query");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Keys" }).waitFor({ state: "detached" });
  await page.keyboard.press("b");
  await page.waitForURL("**/run/out/rollouts");
});

test("after each writing call stands what it changed, at the end the state beside the expected one", async () => {
  const work = workFolder();
  const { code } = await work.run(single("--agent-model", "scripted/agent?skill=0.5", "--rollouts", "4", "--eval"));
  expect(code).toBe(0);
  type StateScore = Score & { details?: { changes?: { [call: string]: object }; expected?: object; diff?: string[] } };
  const scores = work.records<StateScore>("out/scores.jsonl").filter(({ check }) => check === "state");
  const changed = ({ details }: StateScore) => Object.keys(details?.changes ?? {}).length;
  const solved = scores.find((score) => score.pass === true && changed(score) > 0) as StateScore;
  const wrong = scores.find(({ pass }) => pass === false) as StateScore;
  const { page, goto, texts } = await openView(work.path);
  await goto(pathOf("StudentHealthServices", solved.id));
  expect(await page.locator(".changed").count()).toBe(changed(solved));
  expect(await page.locator(".final-state").textContent()).toContain("As expected.");
  const [is, should] = await texts(".beside > div");
  expect(is?.replace("As it is", "")).toBe(should?.replace("As expected", ""));
  await goto(pathOf("StudentHealthServices", wrong.id));
  expect(await texts(".differences li")).toEqual(wrong.details?.diff);
  const [now, wanted] = await texts(".beside > div");
  expect(now?.replace("As it is", "")).not.toBe(wanted?.replace("As expected", ""));

  // nothing is run for it: without scores the page says how to get there
  rmSync(join(work.path, "out/scores.jsonl"));
  await page.getByText("is known once the run is scored").waitFor();
  expect(await page.locator(".changed").count()).toBe(0);
});

test("calls of the user and of the setup stand at their places, apart from the agent's", async () => {
  const work = workFolder();
  writePhones(work);
  expect((await work.run([...PHONE, ...SCRIPTED, "--eval"])).code).toBe(0);
  const journal = work.read("out/journal.jsonl");
  for (const journalIs of ["there", "gone"]) {
    if (journalIs === "gone") rmSync(join(work.path, "out/journal.jsonl"));
    const { page, goto, texts } = await openView(work.path);
    await goto(pathOf("Carrier_Phone", "p1"));
    const heads = await texts(".moment h3");
    expect(heads[0]).toBe("Setup's calls");
    expect(heads.filter((head) => head === "User's calls").length).toBeGreaterThan(0);
    expect(await texts(".moment.by-user .call-head strong")).toEqual(["p__look_at_screen", "p__set_airplane_mode"]);
    expect(await texts(".moment.by-agent .call-head strong")).toEqual(["c__get_line", "c__enable_roaming"]);
    expect(await texts(".moment.by-setup .call")).toEqual([expect.stringContaining('{"on":"yes"}')]);
    // the user's call changed the handset, the agent's the line
    expect(await texts(".changed")).toEqual([expect.stringContaining("Line"), expect.stringContaining("Handset")]);
    const note = page.getByText("the run has no journal of it");
    expect(await note.count()).toBe(journalIs === "gone" ? 1 : 0);
  }
  expect(journal).not.toBe("");
});

async function playAgainst(work: WorkFolder, url: string, more: object): Promise<number | null> {
  const models = Object.fromEntries(
    ["scripted-agent", "scripted-user"].map((name) => [name, { provider: "openai", api_base: url }]),
  );
  const run = {
    ...{ bundled: true, datasets: ["StudentAcademicPortal"], output_dir: "out", models },
    ...{ agent_model: "openai/scripted-agent", user_model: "openai/scripted-user", ...more },
  };
  work.write("run.yml", JSON.stringify(run));
  return (await work.run(["run", "--config", "run.yml", "--quiet"])).code;
}

test("summaries of full contexts and injected trouble are told at their places, in words", async () => {
  const server = await serveScripted();
  const work = workFolder();
  const faults = { rates: { error: 0.3 } };
  await playAgainst(work, server.url, { limit: 12, context_limit: 5600, on_context_full: "summarise", faults });
  const records = work.records("out/trajectories/StudentAcademicPortal.jsonl");
  const { goto, texts } = await openView(work.path);
  const summarised = records.find(({ summaries = [] }) => summaries.length > 0) as Trajectory;
  await goto(pathOf("StudentAcademicPortal", summarised.id));
  const [summary] = summarised.summaries ?? [];
  expect((await texts(".moment.summary")).join()).toContain("this summary stands for everything before it");
  // it comes right before the message that went on from it
  const order = await texts(".moment h3");
  const before = summarised.messages.slice(0, summary?.after).filter(({ role }) => role !== "tool").length;
  expect(order.indexOf("Summary")).toBe(before);
  const injected = ({ metadata }: Trajectory) => metadata.faults.filter(({ type }) => type === "injected");
  const troubled = records.find((record) => injected(record).length > 0) as Trajectory;
  await goto(pathOf("StudentAcademicPortal", troubled.id));
  const marks = await texts(".call .mark");
  expect(marks.filter((mark) => mark.startsWith("injected trouble")).length).toBe(injected(troubled).length);
  expect(await texts(".call .result.error")).not.toEqual([]);
});

test("replies that were not used are shown where they came, and why they were not", async () => {
  const say = (content: string): ModelAnswer => completion({ content });
  const agent = await serveModel(say(""), say("I am here to help."));
  const user = await serveModel(say("How can I help you today?"), say("Thanks. ###STOP###"));
  const work = workFolder();
  work.write(
    "run.yml",
    JSON.stringify({
      ...{ bundled: true, datasets: ["StudentAcademicPortal"], limit: 1, output_dir: "out" },
      models: {
        agent: { provider: "openai", api_base: agent.baseUrl },
        user: { provider: "openai", api_base: user.baseUrl },
      },
      ...{ agent_model: "openai/agent", user_model: "openai/user" },
    }),
  );
  await work.run(["run", "--config", "run.yml", "--quiet"]);
  await Promise.all([agent.close(), user.close()]);
  const [record] = work.records("out/trajectories/StudentAcademicPortal.jsonl");
  const { goto, texts } = await openView(work.path);
  await goto(pathOf("StudentAcademicPortal", record?.id as string));
  const rejected = await texts(".moment.rejected");
  expect(rejected[0]).toContain("this reply of the agent was not used: it was empty");
  expect(rejected[1]).toContain("this reply of the user was not used: it spoke as the agent");
  expect(rejected[1]).toContain("How can I help you today?");
  expect(await texts(".moment h3")).toEqual(["User", "Agent", "Agent", "User", "User"]);
});

test("a rollout that is still running is followed, one that failed says why", async () => {
  let answer: (() => void) | undefined;
  const held: ModelAnswer = (response) => {
    answer = () =>
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify(completion({ content: "Third reply." })));
  };
  const say = (content: string): ModelAnswer => completion({ content });
  const agent = await serveModel(say("First reply."), say("Second reply."), held, (response) =>
    response.writeHead(401).end("{}"),
  );
  const user = await serveModel(say("Go on."));
  const work = workFolder();
  const models = {
    agent: { provider: "openai", api_base: agent.baseUrl },
    user: { provider: "openai", api_base: user.baseUrl },
  };
  const run = {
    ...{ bundled: true, datasets: ["StudentAcademicPortal"], limit: 1, output_dir: "out", models },
    ...{ agent_model: "openai/agent", user_model: "openai/user" },
  };
  work.write("run.yml", JSON.stringify(run));
  const { finished } = work.start(["run", "--config", "run.yml", "--quiet"]);
  while (!answer) await new Promise((resolve) => setTimeout(resolve, 20));
  const { page, goto, texts } = await openView(work.path);
  await goto(pathOf("StudentAcademicPortal", "sap-001"));
  await page.getByText("Still running").waitFor();
  await page.getByText("Second reply.").waitFor();
  expect(await page.locator("#m0").textContent()).not.toBe(""); // how the query begins, from its file
  expect(await page.getByText("Third reply.").count()).toBe(0);
  answer();
  await page.getByText("Third reply.").waitFor();
  await finished;
  await page.getByText("Attempt 1 failed").waitFor();
  await page.getByText("not played").first().waitFor();
  expect(await texts(".failure")).toEqual([expect.stringContaining("401")]);
  await page.getByText("Third reply.").waitFor();
  await Promise.all([agent.close(), user.close()]);
});

test("long dialogues and results of a megabyte: cut, whole on demand, numbers as they were written", async () => {
  const work = workFolder();
  expect((await work.run(single("--limit", "1", ...SCRIPTED))).code).toBe(0);
  const file = "out/trajectories/StudentHealthServices.jsonl";
  const [record] = work.records<Trajectory & { checksum?: string }>(file);
  const { checksum: _, ...base } = record as Trajectory & { checksum?: string };
  const numbers =
    '{"precise": 1.0, "large": 9007199254740993, "tiny": 1E-7, "list": [1.50, {"deep": {"deeper": [2.0]}}], "text": "a\\nb"}';
  const items = Array.from({ length: 20_000 }, (_, at) => `{"item": ${at}, "price": ${at}.50, "name": "thing ${at}"}`);
  const large = `{"total": 2.0, "items": [${items.join(", ")}]}`;
  const hostile = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>';
  const talk: Trajectory["messages"] = Array.from({ length: 250 }, (_, at) => [
    { role: "user" as const, content: `Question ${at} ${hostile}` },
    { role: "assistant" as const, content: `Answer ${at}` },
  ]).flat();
  const call = (id: string, text: string): Trajectory["messages"] => [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id, type: "function", function: { name: "look", arguments: text } }],
    },
    { role: "tool", content: id === "c1" ? numbers : large, tool_call_id: id },
  ];
  const messages = [...talk, ...call("c1", '{"id": 1.0}'), ...call("c2", "not json {")];
  appendFileSync(join(work.path, file), `${JSON.stringify({ ...base, id: "long", query_id: "long", messages })}\n`);
  expect(large.length).toBeGreaterThan(1_000_000);

  const { page, goto, texts } = await openView(work.path);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await goto(pathOf("StudentHealthServices", "long"));
  expect(await page.locator(".moment").count()).toBe(502);
  expect(await page.locator("#m0").textContent()).toContain(hostile);
  expect(await page.title()).not.toBe("broken");
  const [first, second] = [page.locator("#m501"), page.locator("#m503")];
  const shown = await first.textContent();
  for (const written of ["1.0", "9007199254740993", "1E-7", "1.50", '"a\nb"']) expect(shown).toContain(written);
  await first.getByRole("button", { name: "Copy result of look" }).click();
  await page.getByText(`Copied ${numbers.length} characters.`).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(numbers);

  // a megabyte is not sent until it is asked for, and then folded
  expect(((await second.textContent()) ?? "").length).toBeLessThan(10_000);
  await second.getByRole("button", { name: `Show all (${large.length.toLocaleString("en")} characters)` }).click();
  await second.getByText('"total"').waitFor();
  expect(await second.textContent()).toContain('{"item": 3, "price": 3.50, "name": "thing 3"}');
  expect(await second.locator(".json-members > div").count()).toBeLessThan(200);
  await second.getByRole("button", { name: "of 20000" }).click();
  await second.getByText('{"item": 420,').waitFor();
  expect(await texts("[role=alert]")).toEqual([]);
});
