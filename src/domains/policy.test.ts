import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundledFolder } from "./bundled.ts";
import { readPolicy } from "./policy.ts";

function policy(...lines: string[]): { policyFile: string } {
  const folder = mkdtempSync(join(tmpdir(), "rollout-policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "Desk.md"), lines.join("\n"));
  return { policyFile: join(folder, "Desk.md") };
}

const part = (tool: string) => [`<!-- TOOL: ${tool} -->`, `### ${tool}`, "", "Once.", `<!-- TOOL_END: ${tool} -->`, ""];
const RULES = ["<!-- POLICY_START -->", "# Desk", "", "Call `find` first.", "<!-- GLOBAL_RULES_END -->", ""];

test("a policy is read without the comments that mark its parts", () => {
  const files = policy(...RULES, "## Tools", "", ...part("find"), "<!-- POLICY_END -->");
  expect(readPolicy(files)).toBe("# Desk\n\nCall `find` first.\n\n## Tools\n\n### find\n\nOnce.");
  expect(readPolicy({ policyFile: undefined }, "no_tool")).toBeUndefined();
});

test.each(["no_tool", "wrong_tool"] as const)("in %s the parts for tools go, with the headings they empty", (mode) => {
  const nested = [
    "# Tools",
    "",
    "## Finding",
    "",
    ...part("find"),
    ...part("Desk.list"),
    "## Changing",
    ...part("renew"),
  ];
  expect(readPolicy(policy(...RULES, ...nested, "<!-- POLICY_END -->"), mode)).toBe("# Desk\n\nCall `find` first.");
});

test("a heading that still has something under it stays, and so does every heading of the rules", () => {
  const kept = ["## Empty from the start", "## Tools", "", "Be quick.", "", ...part("find"), "## Fees", "", "None."];
  expect(readPolicy(policy(...RULES, ...kept), "no_tool")).toBe(
    "# Desk\n\nCall `find` first.\n\n## Empty from the start\n## Tools\n\nBe quick.\n\n## Fees\n\nNone.",
  );
  const deeper = ["## Tools", "", ...part("find"), "### Fees", "", "None."];
  expect(readPolicy(policy(...deeper), "no_tool")).toBe("## Tools\n\n### Fees\n\nNone.");
});

test("a policy without marked parts is the same in every mode", () => {
  const files = policy("# Desk", "", "## Tools", "", "## find", "", "Once.");
  expect(readPolicy(files, "no_tool")).toBe(readPolicy(files));
});

test("of the bundled policies, the rules are left and nothing else", () => {
  for (const files of [...bundledFolder().list("single"), ...bundledFolder().list("cross")]) {
    const whole = readPolicy(files) as string;
    const rules = readPolicy(files, "wrong_tool") as string;
    expect(whole.startsWith(rules)).toBe(true);
    expect(whole.slice(rules.length)).toMatch(/^\n+## /);
    expect(rules).not.toMatch(/^#.*\s*$(?![\s\S])/m);
  }
});
