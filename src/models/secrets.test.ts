import { expect, test } from "vitest";
import { redactSaid, redactText } from "../core/index.ts";
import { fillBodies } from "./fill-bodies.ts";
import { resolveModel } from "./resolve.ts";
import { learnModel } from "./secrets.ts";

const KEY = "sk-pl/ant+ed?key=0123456789";

test("the secrets of a model are its key, its telling headers, a login, telling parameters, and what looks like a key", () => {
  learnModel({
    apiKey: KEY,
    headers: { "X-Team": "blue-team", Authorization: "Bearer token-1", "x-token-2": "key-2" },
    baseUrls: ["http://me:p%40ss@host/v1?api-version=2024-10-21&code=fun-code-1&sig=s1gn4ture", "https://other/v1"],
    body: { user: "AKIAIOSFODNN7EXAMPLE", nested: [{ client_secret: "cl13nt-s" }], eos_token: "</s>", effort: "high" },
  });
  for (const secret of [KEY, "token-1", "key-2", "p%40ss", "p@ss", "s1gn4ture", "AKIAIOSFODNN7EXAMPLE", "cl13nt-s"])
    expect(redactSaid(`a ${secret} b`)).toBe("a [redacted] b");
  for (const plain of ["blue-team", "host/v1", "2024-10-21", "</s>", "high"]) expect(redactText(plain)).toBe(plain);
});

test("what a variable holds is struck out of errors, and out of dialogues if it is named or looks like a key", () => {
  const registry = {
    own: {
      provider: "mine",
      api_base: `https://\${GATE_USER}@\${GATE_HOST}/v1?tenant=\${TENANT}`,
      headers: { "X-Region": `\${REGION}` },
      extra_params: { user: `\${CALLER}`, note: `in \${PLACE_TOKEN}` },
    },
  };
  const env = {
    GATE_USER: "gate-user-1",
    GATE_HOST: "models.example",
    TENANT: "tenant-abcdefgh-1234",
    REGION: "us-east-1",
    CALLER: "caller-0123456789abc",
    PLACE_TOKEN: "pl4ce",
  };
  fillBodies(resolveModel("own", { registry, env }), {}, env);
  const secrets = Object.values(env).filter((value) => value !== env.GATE_HOST);
  for (const value of secrets) expect([value, redactText(value)]).toEqual([value, "[redacted]"]);
  expect(redactText("https://models.example/v1")).toBe("https://models.example/v1");
  for (const value of [env.TENANT, env.CALLER, env.PLACE_TOKEN, env.GATE_USER])
    expect([value, redactSaid(value)]).toEqual([value, "[redacted]"]);
  expect(redactSaid("in us-east-1")).toBe("in us-east-1");
});
