import { beforeAll, expect, test } from "vitest";
import {
  hideSecret,
  learnAll,
  learnEnvironment,
  learnSecret,
  learnSetting,
  learnUrl,
  redactDeep,
  redactSaid,
  redactSaidJson,
  redactText,
  redactWritten,
} from "./secrets.ts";

const KEY = "n0t-a-k3y/with+special=chars&more";

beforeAll(() => learnSecret(KEY));

test("JSON stays JSON: a key that begins where an escape ends is not torn out of it", () => {
  const line = `${JSON.stringify({ text: `before\n${KEY.slice(1)} ${KEY}`, arguments: JSON.stringify({ inner: KEY }) })}\n`;
  const written = redactWritten(line);
  expect(written.endsWith("\n")).toBe(true);
  const { text, arguments: args } = JSON.parse(written);
  expect(text).not.toContain(KEY);
  expect(JSON.parse(args)).toEqual({ inner: "[redacted]" });
});

test("a key in JSON inside JSON inside JSON is struck out, and every level is still JSON", () => {
  learnSecret('quo"ted\\and\nbroken-1');
  let value: unknown = 'a quo"ted\\and\nbroken-1 b';
  for (let depth = 0; depth < 3; depth++) value = JSON.stringify({ value });
  let read: unknown = redactWritten(String(value));
  for (let depth = 0; depth < 3; depth++) read = JSON.parse(String(read)).value;
  expect(read).toBe("a [redacted] b");
});

test("a number that is a secret does not break the JSON of arguments", () => {
  learnSecret("8675309867");
  expect(JSON.parse(redactSaidJson('{"id": 8675309867, "text": "8675309867"}'))).toEqual({
    id: 8675309867,
    text: "[redacted]",
  });
  expect(redactWritten('{"at":8675309867}')).toBe('{"at":8675309867}');
});

test("a text that was cut elsewhere keeps no part of a key at its ends", () => {
  expect(redactText(`it said ${KEY.slice(0, -5)}`)).toBe("it said [redacted]");
  expect(redactSaid(`${KEY.slice(5)} is what it said`)).toBe("[redacted] is what it said");
  expect(redactText(`${KEY.slice(0, 4)}`)).toBe(KEY.slice(0, 4));
});

test("short words that serve as keys leave dialogues alone, and no key breaks the names of fields", () => {
  for (const word of ["qwxyz", "90817", "zyxw_field", "19070203"]) learnSecret(word);
  expect(redactText("the qwxyz 90817")).toBe("the [redacted] [redacted]");
  expect(redactSaid("the qwxyz 90817")).toBe("the qwxyz 90817");
  expect(redactSaid("zyxw_field")).toBe("[redacted]");
  const line = '{"zyxw_field":"x","at":19070203}\n';
  expect(redactWritten(line)).toBe(line);
});

test("what a variable holds is a key by the variable's name or its look, and else only a setting", () => {
  const values = new Map([
    ["REGION", "eu-central-1"],
    ["MODEL_FOLDER", "/data/models/2024-10/llama3"],
    ["CODE", "zx81-spectrum-48"],
    ["SHORT_TOKEN", "t0k1"],
  ]);
  learnSetting("somewhere", { text: "", values });
  for (const value of values.values()) expect(redactText(value)).toBe("[redacted]");
  expect([...values.values()].filter((value) => redactSaid(value) === value)).toEqual([
    "eu-central-1",
    "/data/models/2024-10/llama3",
  ]);
});

test("an address has secrets in its login and its parameters, not in its host", () => {
  learnUrl({
    text: "https://only-user-x1@gate.example/v1/hf_abcdefghijklmnopqrstuvwxyz012345/x?api-key=short1&v=2024",
  });
  learnUrl({ text: "http://alice:wonder%2Fland@proxy.example:3128" });
  for (const secret of [
    "only-user-x1",
    "short1",
    "hf_abcdefghijklmnopqrstuvwxyz012345",
    "wonder%2Fland",
    "wonder/land",
  ])
    expect([secret, redactSaid(secret)]).toEqual([secret, "[redacted]"]);
  for (const plain of ["gate.example", "proxy.example", "2024", "alice"]) expect(redactText(plain)).toBe(plain);
});

test("names, models and versions in request bodies are no keys; random text is", () => {
  const plain = [
    "Qwen3-Coder-480B-A35B-Instruct",
    "Qwen3CoderInstruct480B",
    "claude-sonnet-4-5-20250929",
    "json_schema",
  ];
  learnAll({ plain, prompt_cache_key: "my-cache-1", deep: [{ user: "q7Zk2Lm9Xw4Rt8Vb1Nc6" }] });
  for (const text of [...plain, "my-cache-1"]) expect([text, redactText(text)]).toEqual([text, text]);
  expect(redactSaid("q7Zk2Lm9Xw4Rt8Vb1Nc6")).toBe("[redacted]");
});

test("of the environment, what is named and looks like a key is known, and the logins of proxies", () => {
  learnEnvironment({
    SOME_API_KEY: "abcdefgh12345678",
    SSH_AUTH_SOCK: "/tmp/ssh-XXXX1234567/agent.1",
    https_proxy: "me:pr0xy-pass@proxy.example:3128",
  });
  expect(redactText("abcdefgh12345678 and pr0xy-pass")).toBe("[redacted] and [redacted]");
  expect(redactText("/tmp/ssh-XXXX1234567/agent.1")).toContain("/tmp/ssh");
});

test("settings are written down by variable, as they are, or as a literal", () => {
  expect(hideSecret("user", `\${ANY}`)).toBe(`\${ANY}`);
  expect(hideSecret("effort", "high")).toBe("high");
  expect(hideSecret("api_key", "anything")).toBe("<literal>");
  expect(hideSecret("user", "AKIAIOSFODNN7EXAMPLE")).toBe("<literal>");
  expect(hideSecret("user", `it is ${KEY}`)).toBe("<literal>");
});

test("what looks like a key is not printed, whoever's it is", () => {
  expect(redactText("Incorrect API key: sk-abcdefghijklmnop0123456789xyz, or AKIAIOSFODNN7EXAMPLX")).toBe(
    "Incorrect API key: [redacted], or [redacted]",
  );
  expect(redactSaid("sk-abcdefghijklmnop0123456789xyz")).toBe("sk-abcdefghijklmnop0123456789xyz");
});

test("all texts in a value are redacted, and nothing else of it is touched", () => {
  const value = { list: [KEY, 1, null, true], [KEY.slice(0, 3)]: { text: `a ${KEY}` } };
  expect(redactDeep(value)).toEqual({ list: ["[redacted]", 1, null, true], n0t: { text: "a [redacted]" } });
});

test("no text takes long, whatever it consists of", () => {
  for (let index = 0; index < 10; index++) learnSecret(`sk-proj-${index}abcdefghij0123456789-${"xyz".repeat(index)}`);
  learnSecret('"/begins-specially-1');
  for (const piece of ["the agent says sk- and n0t ", "\\", '\\"', "%25", "sk-proj-", "c2st"]) {
    const text = piece.repeat(1e6 / piece.length);
    expect(redactWritten(text) === text).toBe(true);
  }
}, 20_000);
