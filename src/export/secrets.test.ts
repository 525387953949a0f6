import { expect, test } from "vitest";
import { createSecretFinder } from "./secrets.ts";

const { find } = createSecretFinder();

// assembled here, so that no scanner takes this file for a leak
test.each([
  ["sk-" + "a1b2c3d4e5f6g7h8i9j0k1l2", /API key/],
  [`key=sk-ant-api03-${"x".repeat(20)}9`, /API key/],
  ["AKIA" + "IOSFODNN7EXAMPLE", /AWS/],
  ["AIza" + "SyA1234567890abcdefghijklmnopqrstuv", /Google/],
  [`ghp_${"a".repeat(36)}`, /GitHub/],
  [`hf_${"b".repeat(34)}`, /Hugging Face/],
  ["-----BEGIN RSA PRIVATE KEY-----", /private key/],
  ["Authorization: Bearer " + "abc123def456ghi789jkl012", /bearer/],
  [`gsk_${"c".repeat(40)}`, /provider/],
])("%s is found, however deep", (text, kind) => {
  expect(find({ messages: [{ content: `See:\n${text}\n` }] })).toMatch(kind);
});

test.each([
  "task-force-of-twenty-five-people",
  "sk-your-api-key",
  "sk-learn-is-a-fine-library-for-us",
  "The bearer of this letter",
  "eyJ",
  ["risk", "1234567890123456789012345"].join("-"),
])("%s is no secret", (text) => {
  expect(find([text])).toBeUndefined();
});
