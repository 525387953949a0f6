// Plays hand-judged dialogues and prints them with what the tools answered and how they were scored:
// `npx tsx scripts/play-corpus.ts FILE [ID…]`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { playCase, readCases } from "../test/support/corpus.ts";

const [file = "", ...wanted] = process.argv.slice(2);
for (const one of readCases(file)) {
  if (wanted.length > 0 && !wanted.includes(one.id)) continue;
  const { folder, trajectory, remove } = await playCase(one);
  console.log(`\n── ${one.id} (${one.query}, ${one.kind}): judged ${one.verdict}${one.blame ? `, ${one.blame}` : ""}`);
  for (const message of trajectory.messages) {
    if (message.content) console.log(`${message.role}: ${message.content}`);
    if (message.role !== "assistant") continue;
    for (const { function: called } of message.tool_calls ?? [])
      console.log(`call: ${called.name} ${called.arguments}`);
  }
  console.log(`ended by ${trajectory.metadata.stop_reason}`);
  if (!process.env.BLIND) {
    for (const line of readFileSync(join(folder, "scores.jsonl"), "utf8").trim().split("\n")) {
      const { check, pass, reason, blame } = JSON.parse(line);
      console.log(`  ${check}: ${pass === null ? "–" : pass ? "pass" : "FAIL"} ${blame ?? ""} ${reason}`);
    }
  }
  remove();
}
