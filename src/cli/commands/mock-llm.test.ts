import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { Command } from "commander";
import { expect, test } from "vitest";
import type { Host } from "../host.ts";
import { configure } from "./mock-llm.ts";

/** The command in its own host: what it prints, its exit code, and a way to press Ctrl-C. */
function start(words: string[], env: { [name: string]: string } = {}) {
  const printed: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      printed.push(String(chunk));
      done();
    },
  });
  const signals = new EventEmitter();
  const host = {
    ...{ stdout: stream, stderr: stream, env, exit: () => {} },
    ...{ on: signals.on.bind(signals), off: signals.off.bind(signals) },
  } as unknown as Host;
  const program = new Command("rollout").exitOverride().configureOutput({ writeErr: (text) => printed.push(text) });
  const codes: number[] = [];
  configure(program.command("mock-llm"), host, (code) => codes.push(code));
  const ended = program.parseAsync(["mock-llm", ...words], { from: "user" });
  const text = () => printed.join("");
  const until = async (pattern: RegExp) => {
    let match = pattern.exec(text());
    for (; !match; match = pattern.exec(text())) await new Promise((resolve) => setTimeout(resolve, 5));
    return match;
  };
  return { ended, text, until, codes, interrupt: () => signals.emit("SIGINT") };
}

test("says where it listens and how to use it, serves until Ctrl-C, and counts what it served", async () => {
  const command = start(["--port", "0", "--faults", "500@1"]);
  const [, url = ""] = await command.until(/ready at (http:\/\/127\.0\.0\.1:\d+\/v1), with \d\d+ queries/);
  await command.until(new RegExp(`scripted-user: \\{provider: openai, api_base: "${url}"\\}\n`));
  expect(command.text()).toContain("--agent-model openai/scripted-agent --user-model openai/scripted-user");
  const body = JSON.stringify({ model: "scripted-agent", messages: [{ role: "user", content: "Hello" }] });
  const ask = async () => (await fetch(`${url}/chat/completions`, { method: "POST", body })).status;
  expect([await ask(), await ask()]).toEqual([500, 200]);
  command.interrupt();
  await command.ended;
  expect(command.text()).toContain("requests: 2, whole replies: 1\nfaults injected: 500 1\n");
  expect(command.codes).toEqual([0]);
  await expect(ask()).rejects.toThrow();
});

test("asks for the key that a variable holds, and shows only the variable's name", async () => {
  const command = start(["--port", "0", "--api-key-env", "MOCK_KEY", "--latency", "1-3"], { MOCK_KEY: "sk-secret" });
  const [, url = ""] = await command.until(/ready at (\S+\/v1),/);
  const status = async (key: string) =>
    (await fetch(`${url}/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect([await status("sk-secret"), await status("other")]).toEqual([200, 401]);
  await command.until(/api_key: "\$\{MOCK_KEY\}"/);
  command.interrupt();
  await command.ended;
  expect(command.text()).not.toContain("sk-secret");
});

test.each([
  [["--faults", "malfromed=0.1"], 'did you mean "malformed"?'],
  [["--api-key-env", "NOT_THERE"], "NOT_THERE is not set"],
  [["--base-path", "/no/such/folder"], "There is no folder"],
  [["--latency", "fast"], "milliseconds"],
])("%j is refused before anything listens", async (words, message) => {
  await expect(start(["--port", "0", ...words]).ended).rejects.toThrow(message);
});
