import { expect, test } from "vitest";
import type { ResolvedModel } from "./resolved.ts";
import { secretsOf } from "./secrets.ts";

const KEY = "sk-pl/ant+ed?key=0123456789";

test("the secrets of a model are its key, its telling headers and a password in its address", () => {
  const model = {
    apiKey: KEY,
    headers: { "X-Team": "blue", Authorization: "Bearer token-1", "x-api-key": "key-2" },
    baseUrls: ["http://me:p%40ss@host/v1", "https://other/v1"],
  } as unknown as ResolvedModel;
  expect(secretsOf(model)).toEqual([KEY, "Bearer token-1", "token-1", "key-2", "key-2", "p%40ss", "p@ss"]);
});
