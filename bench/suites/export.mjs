// Trajectories of 10 KB to `openai` JSONL, to Parquet, and unrolled by turn and by reply, next to a bare loop that reads,
// parses, writes and does nothing else; and rendered with a chat template, a part of them.
// Each runs in a process of its own, so that its memory is its own: compare the ratios.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportDataset } from "../../dist/export/index.js";
import { report, round, timed } from "../support/measure.mjs";

const RECORDS = Number(process.env.BENCH_RECORDS ?? 100_000);
const FEW = Math.ceil(RECORDS / 200);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const [, , , task, folder] = process.argv;
if (task) await runTask(task, folder);
else runAll();

function runAll() {
  const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
  process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
  writeRun(join(temporary, "run"));
  const size = statSync(join(temporary, "run", "trajectories", "Desk.jsonl")).size;
  writeRun(join(temporary, "few"), FEW);
  const rows = Object.keys(tasks(temporary)).map((name) => {
    const child = spawnSync(
      process.execPath,
      [fileURLToPath(import.meta.url), join(temporary, "out.json"), name, temporary],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    if (child.status !== 0) process.exit(child.status ?? 1);
    return { name, ...JSON.parse(child.stdout.toString()) };
  });
  const bare = rows[0];
  const few = rows.find(({ name }) => name === "few, by turn");
  report([
    {
      title: `export: ${RECORDS} trajectories of ${round(size / RECORDS / 1000, 1)} KB`,
      rows: rows
        .filter(({ name }) => !name.startsWith("few"))
        .map(({ name, wallMs, cpuMs, peakMb, writtenMb }) => ({
          "written as": name,
          seconds: round(wallMs / 1000, 1),
          "MB/s": round(size / 1000 / wallMs, 0),
          "times the bare loop": round(cpuMs / bare.cpuMs),
          "peak MB": peakMb,
          "written MB": writtenMb,
        })),
    },
    {
      title: `rendering: ${FEW} of them by turn`,
      rows: rows
        .filter(({ name }) => name.startsWith("few"))
        .map(({ name, wallMs, cpuMs, peakMb, out }) => ({
          "few, by turn": name.slice(5),
          "rows/s": round((out * 1000) / wallMs, 0),
          "times without": round(cpuMs / few.cpuMs),
          "peak MB": peakMb,
        })),
    },
  ]);
}

function tasks(temporary, out) {
  const inputs = [join(temporary, "run")];
  const few = [join(temporary, "few")];
  const template = join(ROOT, "examples", "templates", "plain.jinja");
  return {
    bare: () => bareLoop(join(temporary, "run", "trajectories", "Desk.jsonl"), `${out}.jsonl`),
    openai: () => exportDataset({ inputs, format: "openai", out }),
    parquet: () => exportDataset({ inputs, format: "parquet", out }),
    "openai as parquet": () => exportDataset({ inputs, format: "openai", container: "parquet", out }),
    "axolotl by turn": () => exportDataset({ inputs, format: "axolotl", unroll: "turn", out }),
    "trl by reply": () => exportDataset({ inputs, format: "trl", out }),
    "few, by turn": () => exportDataset({ inputs: few, format: "axolotl", unroll: "turn", out }),
    "few, rendered": () => exportDataset({ inputs: few, format: "axolotl", unroll: "turn", template, out }),
  };
}

async function runTask(name, temporary) {
  const out = join(temporary, name.replaceAll(/\W+/g, "-"));
  const { wallMs, cpuMs, value } = await timed(tasks(temporary, out)[name]);
  const expected = name.startsWith("few") ? FEW : RECORDS;
  if (value && value.counts.used !== expected) throw new Error(`${value.counts.used} records went out`);
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const file = value?.files[0] ?? `${out}.jsonl`;
  const writtenMb = Math.round(statSync(file).size / 1e6);
  process.stdout.write(JSON.stringify({ wallMs, cpuMs, peakMb, writtenMb, out: value?.counts.out }));
  rmSync(out, { recursive: true, force: true });
  rmSync(`${out}.jsonl`, { force: true });
}

/** The floor: large reads cut at newlines, JSON.parse, JSON.stringify, large writes. */
async function bareLoop(from, to) {
  const descriptor = openSync(to, "w");
  let pending = [];
  let size = 0;
  let rest = "";
  const flush = () => {
    writeSync(descriptor, pending.join(""));
    pending = [];
    size = 0;
  };
  for await (const chunk of createReadStream(from, { highWaterMark: 1 << 20, encoding: "utf8" })) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const text = JSON.stringify(JSON.parse(line));
      pending.push(text, "\n");
      size += text.length;
      if (size > 1 << 20) flush();
    }
  }
  flush();
  closeSync(descriptor);
}

function writeRun(run, records = RECORDS) {
  mkdirSync(join(run, "trajectories"), { recursive: true });
  const tools = Array.from({ length: 8 }, (_, n) => ({
    type: "function",
    function: {
      name: `desk_tool_${n}`,
      description: "Looks up what the desk knows of a member.",
      parameters: { type: "object", properties: { member_id: { type: "string" } }, required: ["member_id"] },
    },
  }));
  const prompts = [
    { hash: "s", kind: "system", content: "You are an assistant that helps a user by calling tools. ".repeat(10) },
    { hash: "t", kind: "tools", content: tools },
  ];
  writeFileSync(join(run, "prompts.jsonl"), prompts.map((prompt) => `${JSON.stringify(prompt)}\n`).join(""));
  const descriptor = openSync(join(run, "trajectories", "Desk.jsonl"), "w");
  for (let start = 0; start < records; start += 100) {
    const count = Math.min(100, records - start);
    writeSync(
      descriptor,
      Array.from({ length: count }, (_, n) => `${JSON.stringify(trajectory(start + n))}\n`).join(""),
    );
  }
  closeSync(descriptor);
}

/** Ten turns, a call and its result in each; words that differ from record to record. */
function trajectory(n) {
  const messages = Array.from({ length: 10 }, (_, turn) => [
    {
      role: "user",
      content: `Please look at booking ${n}-${turn} for member M${n}: I would like to move it to next week. `,
    },
    {
      role: "assistant",
      content: "",
      reasoning_content: `The user wants to move booking ${n}-${turn}. The member must be looked up first, and then the slot.`,
      tool_calls: [
        {
          id: `call_${turn}_0`,
          type: "function",
          function: { name: `desk_tool_${turn % 8}`, arguments: JSON.stringify({ member_id: `M${n}`, turn }) },
        },
      ],
    },
    {
      role: "tool",
      content: JSON.stringify({
        success: true,
        booking: {
          booking_id: `B${n}-${turn}`,
          member_id: `M${n}`,
          slot: `2026-03-${10 + turn}T10:00`,
          status: "open",
        },
        notes: `Seat ${(n * 7 + turn) % 97}, “window”, ${"paid by card; ".repeat(12)}`,
      }),
      tool_call_id: `call_${turn}_0`,
    },
    {
      role: "assistant",
      content: `Booking ${n}-${turn} is now on 2026-03-${10 + turn} at ten. ${"Is there more? ".repeat(4)}`,
    },
  ]).flat();
  return {
    id: `q-${n}`,
    query_id: `q-${n}`,
    rollout: 0,
    dataset: "Desk",
    domains: ["Desk"],
    success: true,
    messages,
    metadata: {
      total_turns: 10,
      stop_reason: "user_stop",
      tool_call_count: 10,
      mode: "positive",
      usage: {},
      cost_usd: 0,
      models: { agent: "bench/agent", user: "bench/user" },
      seed: n,
      fingerprint: "f",
      system_hash: "s",
      tools_hash: "t",
      faults: [],
    },
  };
}
