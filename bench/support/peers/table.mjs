// The comparison as tables: for the terminal, and as Markdown for README and docs/speed.md, so that what they show is what the
// command printed.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { round } from "../measure.mjs";
import { LEFT_OUT } from "./list.mjs";
import { CALLS } from "./scenario.mjs";

const WORDS = {
  en: {
    head: ["", "version", "CPU ms a call", "x floor", "wall time over ideal", "peak MB"],
    levels: (levels, main) => `At ${levels} dialogues at once; "x floor" is CPU at ${main}.`,
    measured: "Measured: ",
    stop: ".",
    runs: (runs) => (runs === 1 ? "one run" : `medians of ${runs} runs`),
    busy: (others) => `**The machine was busy: other processes used ${others} cores meanwhile.**`,
    quick:
      "**A quick run, once, with few dialogues and hardly any warm-up: it shows that everything works, not how fast.**",
    notes: "What each does more or less than ours:",
    missing: "Not measured:",
  },
  zh: {
    head: ["", "版本", "每次调用的 CPU 毫秒", "相对下限", "墙钟时间相对理想值", "内存峰值 MB"],
    levels: (levels, main) => `同时进行 ${levels} 个对话；“相对下限”是同时 ${main} 个时的 CPU。`,
    measured: "测于：",
    stop: "。",
    runs: (runs) => (runs === 1 ? "一次运行" : `${runs} 次运行的中位数`),
    busy: (others) => `**机器不空闲：其间其他进程用了 ${others} 个核。**`,
    quick: "**快速运行：只跑一次，对话少，几乎没有预热。它说明一切正常，不说明有多快。**",
    notes: "各家比我们多做或少做什么：",
    missing: "未测：",
  },
};

/** For the terminal and the results: one table for each number of dialogues at once. */
export function toTables({ levels, measured, missing }) {
  const tables = levels.map(({ at, latency, dialogues }) => ({
    title: `${at} at once: ${dialogues} dialogues of ${CALLS} calls, a model of ${latency} ms`,
    rows: measured.map(({ peer, version, results }) => ({ peer: peer.title, version, ...rowOf(results.get(at), at) })),
  }));
  const rows = missing.map(({ peer, reason }) => ({ peer: peer.title, reason }));
  return rows.length > 0 ? [...tables, { title: "Not measured", rows }] : tables;

  function rowOf(result, at) {
    if (!result) return {};
    return {
      "CPU ms/call": round(result.cpuMs),
      "x floor": timesFloor(measured, result, at),
      "wall/ideal": round(result.wallRatio),
      "peak MB": round(result.peakMb, 0),
      "KB/request": round(result.medianKb, 0),
      runs: result.runs,
    };
  }
}

/** `short` leaves out the notes. */
export function toMarkdown({ levels, measured, missing, about }, { language, short = false }) {
  const words = WORDS[language];
  const ats = levels.map(({ at }) => at);
  const main = ats.includes(64) ? 64 : ats[0];
  const each = (results, pick) => ats.map((at) => (results.has(at) ? pick(results.get(at)) : "-")).join(" / ");
  const rows = measured.map(({ peer, version, results }) => [
    peer.title,
    version,
    each(results, ({ cpuMs }) => cpuMs.toFixed(2)),
    results.has(main) ? timesFloor(measured, results.get(main), main) : "-",
    each(results, ({ wallRatio }) => wallRatio.toFixed(2)),
    each(results, ({ peakMb }) => peakMb.toFixed(0)),
  ]);
  const table = [words.head, words.head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const lines = [...table, "", words.levels(ats.join(" / "), main), "", sentenceOf(about, words)];
  if (about.quick) lines.push("", words.quick);
  if (about.busy) lines.push("", words.busy(about.others));
  if (short) return lines.join("\n");
  lines.push("", words.notes, "", ...measured.map(({ peer }) => `- **${peer.title}**: ${peer.notes[language]}`));
  if (missing.length > 0)
    lines.push("", words.missing, "", ...missing.map(({ peer, reason }) => `- **${peer.title}**: ${reason}`));
  return [...lines, "", LEFT_OUT[language]].join("\n");
}

/** Puts it between `<!-- peers -->` (or `<!-- peers: short -->`) and `<!-- /peers -->`, in those files that have the marks. */
export function writeInto(files, result) {
  for (const file of files.filter(existsSync)) {
    const before = readFileSync(file, "utf8");
    const language = /zh/.test(file) ? "zh" : "en";
    const after = before.replace(/(<!-- peers(: short)? -->\n)[\s\S]*?(<!-- \/peers -->)/g, (_, open, short, close) => {
      return `${open}${toMarkdown(result, { language, short: Boolean(short) })}\n${close}`;
    });
    if (after !== before) writeFileSync(file, after);
  }
}

export function describeMachine() {
  const [{ model = "unknown" } = {}] = cpus();
  return `${cpus().length} x ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}`;
}

function sentenceOf({ date, machine, node, python, runs }, words) {
  const programs = [`Node ${node}`, ...(python ? [`Python ${python}`] : [])];
  return `${words.measured}${[date, words.runs(runs), machine, ...programs].join(", ")}${words.stop}`;
}

function timesFloor(measured, { cpuMs }, at) {
  const floor = measured.find(({ peer }) => peer.name === "floor")?.results.get(at)?.cpuMs;
  return floor ? round(cpuMs / floor, 1) : "";
}
