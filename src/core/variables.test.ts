import { describe, expect, test } from "vitest";
import { UsageError } from "./errors.ts";
import { fillVariables, UnsetVariableError } from "./variables.ts";

const KEY = "sk-pl/ant+ed?key=0123456789";

describe("variables", () => {
  const fill = (text: string, env = {}) => fillVariables(text, { env, where: 'model "m", api_key' });

  test("text without a variable is a literal", () => {
    expect(fill("sk-$1-literal")).toEqual({ text: "sk-$1-literal", values: new Map() });
  });

  test("variables are filled, alone or inside other text, and named", () => {
    expect(fill(`\${A}`, { A: "one" })).toEqual({ text: "one", values: new Map([["A", "one"]]) });
    expect(fill(`Bearer \${302AI_KEY}`, { "302AI_KEY": "$& two" })).toEqual({
      text: "Bearer $& two",
      values: new Map([["302AI_KEY", "$& two"]]),
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
      new UnsetVariableError('model "m", api_key: the environment variable NOT_THERE is not set', "NOT_THERE"),
    );
    expect(() => fill(`\${__proto__}`)).toThrow("__proto__ is not set");
  });

  test("a broken one is refused without showing the text", () => {
    const attempt = () => fill(`${KEY}\${A`);
    expect(attempt).toThrow(UsageError);
    expect(attempt).not.toThrow(KEY);
  });

  test("for looking only, a missing variable stays as it is written", () => {
    expect(fillVariables(`https://\${HOST}/v1`, { env: {}, where: "", keepMissing: true }).text).toBe(
      `https://\${HOST}/v1`,
    );
  });
});
