// Plays hand-judged dialogues and prints where the scores differ from the judgement: `npx tsx scripts/play-corpus.ts
// FILE… [--id ID] [--all] [--blind]`. `--all` prints every dialogue, `--blind` without its scores.
import { type CorpusCase, playCase, readCases, scoreOf } from "../test/support/corpus.ts";

const args = process.argv.slice(2);
const only = args.includes("--id") ? args[args.indexOf("--id") + 1] : undefined;
const files = args.filter((arg) => !arg.startsWith("--") && arg !== only);
const isBlind = args.includes("--blind") || process.env.BLIND !== undefined;
let right = 0;
let all = 0;
for (const one of files.flatMap((file) => readCases(file))) {
  if (only !== undefined && one.id !== only) continue;
  const played = await playCase(one);
  const { pass, blame, decided_by, results } = scoreOf(played);
  const verdict = pass === null ? "unscored" : pass ? "pass" : "fail";
  const agrees = verdict === one.verdict && (verdict !== "fail" || blame === one.blame);
  all++;
  if (agrees) right++;
  if (!agrees || only !== undefined || args.includes("--all") || isBlind) {
    print(one, played.trajectory);
    if (!isBlind) {
      console.log(`  → ${verdict}${blame ? `, ${blame}` : ""}, by ${decided_by.join(", ")}`);
      for (const { check, pass: own, reason } of results)
        console.log(`  ${check}: ${own === null ? "–" : own ? "pass" : "FAIL"} ${reason}`);
    }
  }
  played.remove();
}
console.log(`\n${right} of ${all} agree`);

function print(one: CorpusCase, { messages, metadata }: Awaited<ReturnType<typeof playCase>>["trajectory"]): void {
  console.log(
    `\n── ${one.id} (${one.query}, ${one.kind}): judged ${one.verdict}${one.blame ? `, ${one.blame}` : ""}: ${one.why}`,
  );
  for (const message of messages) {
    if (message.content) console.log(`${message.role}: ${message.content}`);
    if (message.role !== "assistant") continue;
    for (const { function: called } of message.tool_calls ?? [])
      console.log(`call: ${called.name} ${called.arguments}`);
  }
  console.log(`stop reason ${metadata.stop_reason}`);
}
