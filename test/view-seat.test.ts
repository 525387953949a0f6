import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { openBrowser } from "./support/browser.ts";
import { type Running, type WorkFolder, workFolder } from "./support/cli.ts";
import { DESK_RUN, writeDesk } from "./support/desk-dataset.ts";
import { printedAddress } from "./support/view-server.ts";

const AS_AGENT = ["play", ...DESK_RUN, "--as", "agent", "--user-model", "scripted/user", "--view", "--no-open"];
const AS_USER = ["play", ...DESK_RUN, "--as", "user", "--agent-model", "scripted/agent", "--view", "--no-open"];

test("on the page a person plays the agent: a form for every kind of parameter, joint calls, results, a reload", async () => {
  const { work, page, running } = await sit(AS_AGENT);
  await see(page, "You are the agent");
  await see(page, "Hello, this is d1.");
  await page.getByText("Your instructions and the policy").click();
  await see(page, "Book one desk for each person.");

  await page.getByLabel("Tool", { exact: true }).selectOption("book_desk");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await see(page, "name is needed");
  await fill(page, { name: "Ada\u202e", number: "9007199254740993", height: "1,5", either: "{", at: "[1" });
  await page.locator("#field-size").selectOption("3");
  await page.locator("#field-lit").selectOption("false");
  await page.locator("#field-tags").fill("a, b\nc");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await see(page, "height must be number");
  await see(page, "at must be JSON");
  await fill(page, { height: "1.0", either: "2.50", at: '{"room": "x"}' });
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await see(page, '"at.room" must be integer'); // by the whole schema, which the server knows
  await fill(page, { at: '{"room": 4}' });

  await page.reload();
  expect(await page.locator("#field-number").inputValue()).toBe("9007199254740993");
  await page.getByRole("button", { name: "Keep for a joint call" }).click();
  await page.getByLabel("Tool", { exact: true }).selectOption("list_desks");
  await see(page, "It takes no arguments.");
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.filter(({ impact }) => impact === "serious" || impact === "critical")).toEqual([]);
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await see(page, "book_desk answered");
  await see(page, "<img src=x onerror=alert(1)>"); // as text
  expect(await page.locator("main img").count()).toBe(0);

  await say(page, "Which one?");
  await see(page, "The large one.");
  await page.reload();
  await see(page, "list_desks answered");
  await say(page, "It is yours.");
  await see(page, "The dialogue is over: user_stop");
  await page.getByText("The record with its checks").click();
  await page.waitForURL("**/run/out/rollout/Desk/d1");

  expect(await leave(running)).toBe(0);
  const record = only(work);
  expect(record.metadata.models).toMatchObject({ agent: "human" });
  const calls = record.messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  expect(calls.map(({ function: called }) => [called.name, called.arguments])).toEqual([
    [
      "book_desk",
      '{"name":"Ada\u202e","height":1.0,"number":9007199254740993,"size":3,"lit":false,"tags":["a, b","c"],"at":{"room": 4},"either":2.50}',
    ],
    ["list_desks", "{}"],
  ]);
});

test("on the page a person plays the user, leaves, and goes on later at a new address", async () => {
  const { work, page, running } = await sit(AS_USER);
  await see(page, "You want an item.");
  await see(page, "Which desk do you want?");
  await page.getByLabel("What you say to the agent").fill("How can I help you today?");
  await page.getByRole("button", { name: "Say" }).click();
  await see(page, "Your last answer was not passed on");
  await say(page, "The large one.");
  await see(page, "It is yours.");
  expect(await leave(running)).toBe(130);
  await see(page, "The server cannot be reached");

  const next = await sit(AS_USER, work);
  await see(next.page, "The large one.");
  await next.page.getByRole("button", { name: "End: I am handed over" }).click();
  await see(next.page, "The dialogue is over: user_transfer");
  expect(await leave(next.running)).toBe(0);
  expect(only(work).metadata).toMatchObject({ stop_reason: "user_transfer", models: { user: "human" } });
});

test("only the page itself may answer, only what is asked, and nothing is started by it", async () => {
  const { work, page, address, running } = await sit(AS_USER);
  await see(page, "Which desk do you want?");
  const { origin } = new URL(address);
  const headers = { "content-type": "application/json" };
  const stranger = await fetch(`${origin}/api/seat`, {
    method: "POST",
    headers,
    body: JSON.stringify({ position: 0, content: "x ###STOP###", calls: [] }),
  });
  expect(stranger.status).toBe(403);
  const send = (data: unknown, more: { [name: string]: string } = {}) =>
    page.request.post(`${origin}/api/seat`, { data: data as object, headers: { ...headers, ...more } });
  const answer = { position: 0, content: "x", calls: [] };
  expect((await send(answer, { origin: "http://evil.example" })).status()).toBe(403);
  expect((await send(answer, { "sec-fetch-site": "cross-site" })).status()).toBe(403);
  expect((await send(JSON.stringify(answer), { "content-type": "text/plain" })).status()).toBe(400);
  for (const wrong of [{ ...answer, position: 7 }, { ...answer, content: "" }, { ...answer, more: 1 }, [], "{"])
    expect((await send(wrong)).status()).toBe(400);
  expect((await send({ ...answer, calls: [{ name: "list_desks", arguments: "{}" }] })).status()).toBe(400);
  expect((await send({ ...answer, content: "x".repeat(5e6) })).status()).toBe(413);
  expect((await send(answer)).status()).toBe(200);
  expect((await send(answer)).status()).toBe(400); // the same answer twice counts once
  await see(page, "It is yours.");
  await leave(running);
  expect(work.names()).toEqual(["desk", "out"]);
});

async function sit(args: string[], work = newWork()) {
  const running = work.start(args);
  onTestFinished(() => void running.child.kill("SIGKILL"));
  const address = await printedAddress(running);
  const context = await (await openBrowser()).newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.on("dialog", (dialog) => {
    throw new Error(`a script ran: ${dialog.message()}`);
  });
  await page.goto(address);
  return { work, page, address, running };
}

function newWork(): WorkFolder {
  const work = workFolder();
  writeDesk(work);
  return work;
}

async function leave({ child, finished }: Running): Promise<number | null> {
  child.kill("SIGINT");
  return (await finished).code;
}

async function see(page: Page, text: string): Promise<void> {
  await page.getByText(text, { exact: false }).first().waitFor();
}

async function fill(page: Page, typed: { [field: string]: string }): Promise<void> {
  for (const [field, text] of Object.entries(typed)) await page.locator(`#field-${field}`).fill(text);
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator("#seat-content").fill(text);
  await page.getByRole("button", { name: "Say" }).click();
}

function only(work: WorkFolder): Trajectory {
  const records = work.records("out/trajectories/Desk.jsonl");
  expect(records).toHaveLength(1);
  return records[0] as Trajectory;
}
