// Plays hand-judged dialogues and prints where the scores differ from the judgement: `npx tsx scripts/play-corpus.ts
// FILE… [--id ID] [--all] [--blind]`. `--all` prints every dialogue, `--blind` leaves the scores out. `--table` prints the
// table of docs/evaluation.md instead.
import {
  type CorpusCase,
  type PlayedCase,
  playCases,
  readCases,
  readCorpus,
  verdictOf,
} from "../test/support/corpus.ts";

const args = process.argv.slice(2);
const only = args.includes("--id") ? args[args.indexOf("--id") + 1] : undefined;
const files = args.filter((arg) => !arg.startsWith("--") && arg !== only);
const isBlind = args.includes("--blind");
const cases = (files.length > 0 ? files.flatMap(readCases) : readCorpus()).filter(({ id }) => (only ?? id) === id);
const played = await playCases(cases);

if (args.includes("--table")) printTable();
else {
  for (const one of played) {
    const agrees = isRight(one);
    if (agrees && only === undefined && !args.includes("--all") && !isBlind) continue;
    printDialogue(one);
    if (!isBlind) printScore(one);
  }
  if (!isBlind) console.log(`\n${played.filter(isRight).length} of ${played.length} agree`);
}

function isRight({ judged, score }: PlayedCase): boolean {
  return verdictOf(score) === judged.verdict && score.blame === judged.blame;
}

function printDialogue({ judged, trajectory }: PlayedCase): void {
  const { id, query, kind, verdict, blame, why } = judged;
  console.log(`\n── ${id} (${query}, ${kind}): judged ${verdict}${blame ? `, ${blame}` : ""}: ${why}`);
  for (const message of trajectory.messages) {
    if (message.content) console.log(`${message.role}: ${message.content}`);
    if (message.role !== "assistant") continue;
    for (const { function: called } of message.tool_calls ?? [])
      console.log(`call: ${called.name} ${called.arguments}`);
  }
  console.log(`stop reason ${trajectory.metadata.stop_reason}`);
}

function printScore({ score, results }: PlayedCase): void {
  console.log(`  → ${verdictOf(score)}${score.blame ? `, ${score.blame}` : ""}, by ${score.decided_by.join(", ")}`);
  for (const { check, pass, reason } of results)
    console.log(`  ${check}: ${pass === null ? "–" : pass ? "pass" : "FAIL"} ${reason}`);
}

/** What readers say against what checks say; then by kind, how often they agree. */
function printTable(): void {
  const verdicts = ["pass", "fail", "unscored"] as const;
  const heads = verdicts.map((verdict) => `scored ${verdict}`).join(" | ");
  console.log(`| | ${heads} | same blame |\n|---|---|---|---|---|`);
  for (const verdict of verdicts) {
    const own = played.filter(({ judged }) => judged.verdict === verdict);
    const counts = verdicts.map((scored) => own.filter(({ score }) => verdictOf(score) === scored).length);
    const blamed = own.filter(({ judged, score }) => score.blame === judged.blame).length;
    console.log(`| judged ${verdict} | ${counts.join(" | ")} | ${blamed} of ${own.length} |`);
  }
  console.log("");
  const kinds = [...new Set(played.map(({ judged }) => judged.kind))].sort();
  const cell = (list: PlayedCase[], verdict: CorpusCase["verdict"]) => {
    const own = list.filter(({ judged }) => judged.verdict === verdict);
    return own.length === 0 ? "–" : `${own.filter(isRight).length} of ${own.length}`;
  };
  const row = (name: string, list: PlayedCase[]) =>
    console.log(`| ${name} | ${cell(list, "pass")} | ${cell(list, "fail")} | ${cell(list, "unscored")} |`);
  console.log("| kind | judged right | judged wrong | judged unscored |\n|---|---|---|---|");
  for (const kind of kinds)
    row(
      kind,
      played.filter(({ judged }) => judged.kind === kind),
    );
  row("all", played);
}
