import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, fillVariables, UsageError } from "../core/index.ts";
import type { ResolvedModel } from "./resolved.ts";
import { secretsOf } from "./secrets.ts";

const KEY = "sk-pl/ant+ed?key=0123456789";

describe("references", () => {
  const fill = (text: string, env = {}) => fillVariables(text, { env, where: 'model "m", api_key' });

  test("text without a reference is a literal", () => {
    expect(fill("sk-$1-literal")).toEqual({ text: "sk-$1-literal", names: [] });
  });

  test("references are filled, alone or inside other text, and named", () => {
    expect(fill(`\${A}`, { A: "one" })).toEqual({ text: "one", names: ["A"] });
    expect(fill(`Bearer \${302AI_KEY}`, { "302AI_KEY": "$& two" })).toEqual({
      text: "Bearer $& two",
      names: ["302AI_KEY"],
    });
  });

  test("a default stands in for a variable that is unset or empty, and may itself be empty", () => {
    expect(fill(`\${A:-EMPTY}`).text).toBe("EMPTY");
    expect(fill(`\${A:-EMPTY}`, { A: "" }).text).toBe("EMPTY");
    expect(fill(`\${A:-EMPTY}`, { A: "set" }).text).toBe("set");
    expect(fill(`\${A:-}`).text).toBe("");
  });

  test("a missing variable is a usage error that names it and the place", () => {
    expect(() => fill(`\${NOT_THERE}`)).toThrow(
      new UsageError('model "m", api_key: the environment variable NOT_THERE is not set'),
    );
    expect(() => fill(`\${__proto__}`)).toThrow("__proto__ is not set");
  });

  test("a broken reference is refused without showing the text", () => {
    const attempt = () => fill(`${KEY}\${A`);
    expect(attempt).toThrow(UsageError);
    expect(attempt).not.toThrow(KEY);
  });

  test("for looking only, a missing variable's reference stays", () => {
    expect(fillVariables(`https://\${HOST}/v1`, { env: {}, where: "", keepMissing: true }).text).toBe(
      `https://\${HOST}/v1`,
    );
  });
});

describe("redaction", () => {
  const redact = createRedactor([KEY]);

  test("a key is struck out as it is, URL-encoded, in JSON and in base64", () => {
    const forms = [
      KEY,
      encodeURIComponent(KEY),
      encodeURIComponent(KEY).toLowerCase(),
      new URLSearchParams({ key: KEY }).toString().slice(4),
      JSON.stringify(KEY).slice(1, -1),
      Buffer.from(KEY).toString("base64"),
      Buffer.from(KEY).toString("base64url"),
    ];
    for (const form of forms) expect(redact(`before ${form} after`)).toBe("before [redacted] after");
  });

  test("every secret is struck out wherever it stands, the longer first where one begins another", () => {
    const both = createRedactor(["abcdef", "abcdefgh", 'quo"te\nd']);
    expect(both(`abcdefgh abcdef abcdefgh ${JSON.stringify('quo"te\nd')}`)).toBe(
      '[redacted] [redacted] [redacted] "[redacted]"',
    );
  });

  test("a key inside longer base64 text, as in a Basic header, leaves no run of it that can be read", () => {
    for (const user of ["", "u:", "me:", "you:"]) {
      const encoded = Buffer.from(`${user}${KEY}:tail`).toString("base64");
      const parts = redact(encoded).split("[redacted]");
      expect(parts).toHaveLength(2);
      for (const part of parts) expect(Buffer.from(part, "base64").toString()).not.toContain(KEY.slice(3, -3));
    }
  });

  test("whatever the key, no form of it is left", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, unit: "grapheme" }), fc.string(), (key, rest) => {
        const clean = createRedactor([key]);
        for (const form of [key, encodeURIComponent(key), Buffer.from(key).toString("base64")])
          expect(clean(`${rest} ${form}`)).toContain("[redacted]");
      }),
    );
  });

  test("very short secrets, stand-ins for no key, and an empty list strike out nothing", () => {
    expect(createRedactor(["abc", "EMPTY", ""])("abc EMPTY")).toBe("abc EMPTY");
    expect(createRedactor([])("text")).toBe("text");
  });

  test("the secrets of a model are its key, its telling headers and a password in its address", () => {
    const model = {
      apiKey: KEY,
      headers: { "X-Team": "blue", Authorization: "Bearer token-1", "x-api-key": "key-2" },
      baseUrls: ["http://me:p%40ss@host/v1", "https://other/v1"],
    } as unknown as ResolvedModel;
    expect(secretsOf(model)).toEqual([KEY, "Bearer token-1", "token-1", "key-2", "key-2", "p%40ss", "p@ss"]);
  });
});
