// The judge's findings: printed, held against the known causes, and written into the docs. What is not perfect in a cell
// is a finding; a refusal is one for each reason.
import { readFileSync, writeFileSync } from "node:fs";
import { CAUSES } from "./causes.mjs";
import { WORDS } from "./words.mjs";

const START = "<!-- found -->";
const END = "<!-- /found -->";

/** What is not perfect, by kind, with how it is shown. */
function findingsOf(cell) {
  const number = (name) => cell[name] ?? 0;
  const short = (kind, count, all) => (count < all ? [{ kind, shown: `${count}/${all}` }] : []);
  const some = (kind, count) => (count > 0 ? [{ kind, shown: `${count}` }] : []);
  const silent = number("reasoning") > 0 && number("reasoning kept") === 0;
  return [
    ...Object.entries(cell.refused).map(([reason, count]) => ({ kind: "refused", reason, shown: `${count}` })),
    ...short("reasoning", number("reasoning kept"), number("reasoning")),
    ...(silent ? [] : some("context", number("reasoning cut"))),
    ...short("replies", number("said whole"), number("said")),
    ...some("missed", cell.missed),
    ...some("again", cell.again),
    ...short("arguments", number("calls") - number("calls changed"), number("calls")),
    ...some("twice", number("calls twice") + number("tools twice")),
    ...short("tools", number("tools") - number("tools changed") - number("tools prose"), number("tools")),
    ...some("tools lost", number("tools lost")),
    ...["tool", "user", "system", "tool-list"].flatMap((kind) => some(`${kind} learnt`, number(`${kind} learnt`))),
    ...some("lost", number("texts lost")),
  ];
}

function causesOf(cell, { kind, reason }) {
  const format = cell.name.split(" ")[0];
  return CAUSES.filter(
    (cause) =>
      [cause.kind].flat().includes(kind) &&
      (!cause.formats || cause.formats.includes(format) || cause.formats.includes(cell.name)) &&
      (!cause.templates || cause.templates.includes(cell.template)) &&
      (!cause.refusal || cause.refusal.test(reason)),
  );
}

/** Findings without a cause, and causes without a finding if all was judged. */
export function findProblems(cells, isAll) {
  const problems = [];
  const used = new Set();
  for (const cell of cells)
    for (const finding of findingsOf(cell)) {
      const causes = causesOf(cell, finding);
      for (const cause of causes) used.add(cause);
      const about = { arguments: "calls changed", twice: "calls twice", tools: "tools changed" }[finding.kind];
      if (causes.length === 0)
        problems.push(
          `${cell.name}, ${cell.template}: ${finding.kind} ${finding.shown} ${finding.reason ?? cell.examples[about] ?? ""}`,
        );
    }
  if (isAll)
    for (const cause of CAUSES.filter((known) => !used.has(known)))
      problems.push(`nothing is wrong any more that this explains: ${cause.en}`);
  return problems;
}

export function printTables(cells, exports) {
  console.log(tables(cells, exports, "en"));
}

/** Writes the tables between the marks of both pages, or says which page does not have them yet. */
export function writeDocs(cells, exports, isWriting) {
  return ["en", "zh"].flatMap((language) => {
    const page = language === "en" ? "docs/export-fidelity.md" : "docs/zh/export-fidelity.md";
    const text = readFileSync(page, "utf8");
    const [before, after] = [text.indexOf(START) + START.length, text.indexOf(END)];
    const wanted = `${text.slice(0, before)}\n\n${tables(cells, exports, language)}\n${text.slice(after)}`;
    if (isWriting) writeFileSync(page, wanted);
    return isWriting || wanted === text ? [] : [`${page} says something else: --write-docs`];
  });
}

function tables(cells, exports, language) {
  const words = WORDS[language];
  const used = CAUSES.filter((cause) =>
    cells.some((cell) => findingsOf(cell).some((finding) => causesOf(cell, finding).includes(cause))),
  );
  const judged = cells.filter((cell) => cell.trainer !== "datasets");
  const parts = [...new Set(judged.map(({ name }) => name))].map((name) => {
    const lines = judged.filter((cell) => cell.name === name).map((cell) => lineOf(cell, used, words));
    const { trainer, version } = judged.find((cell) => cell.name === name);
    const lost = Object.entries(exports.find((made) => made.name === name).lost);
    const noted = lost.map(([reason, count]) => `${count} × ${reason}`).join("; ");
    const head = [`### ${name} (${trainer} ${version})`, "", ...(noted ? [`${words.noted}: ${noted}.`, ""] : [])];
    return [...head, row(words.columns), row(words.columns.map(() => "---")), ...lines, ""];
  });
  const notes = used.map((cause, index) => `${index + 1}. ${cause[language]}`);
  return [...parts.flat(), `### ${words.causes}`, "", ...notes, ""].join("\n");
}

function lineOf(cell, used, words) {
  const findings = findingsOf(cell);
  const number = (name) => `${cell[name] ?? 0}`;
  const mark = (kinds, perfect) => {
    const found = findings.filter(({ kind }) => kinds.includes(kind));
    if (found.length === 0) return perfect;
    const shown = found.map(({ kind, shown: count }) => [count, words.kinds[kind]].filter(Boolean).join(" "));
    const notes = new Set(found.flatMap((finding) => causesOf(cell, finding)).map((cause) => used.indexOf(cause) + 1));
    return `**${shown.join(", ")}** ${[...notes].map((note) => `[${note}]`).join("")}`;
  };
  const judged = (kinds, perfect) => (cell.taken === 0 ? "" : mark(kinds, perfect));
  return row([
    cell.template,
    `${cell.rows}`,
    mark(["refused"], "0"),
    judged(["reasoning", "context"], number("reasoning")),
    judged(["replies", "missed", "again", "lost"], number("said")),
    judged(["arguments", "twice"], number("calls")),
    judged(["tools", "tools lost"], number("tools")),
    judged(["tool learnt", "user learnt", "system learnt", "tool-list learnt"], "0"),
  ]);
}

function row(values) {
  return `| ${values.join(" | ")} |`;
}
