import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, hideLogin, isSecretName } from "./redact.ts";

const KEY = "sk-pl/ant+ed?key=0123456789";

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
});

test("a URL is shown without its login, and names that hold secrets are known", () => {
  expect(hideLogin("http://me:p%40ss@host/v1")).toBe("http://host/v1");
  expect(hideLogin("https://host/a@b")).toBe("https://host/a@b");
  expect(["api_key", "Authorization", "GITHUB_TOKEN", "db_password"].filter(isSecretName)).toHaveLength(4);
  expect(["max_tokens", "model", "PATH"].filter(isSecretName)).toEqual([]);
});
