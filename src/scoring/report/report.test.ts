import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Blame, StopReason } from "../../core/index.ts";
import { compareReports } from "./compare.ts";
import { reportHtml } from "./html.ts";
import { buildReport } from "./report.ts";
import { escapeHtml } from "./svg.ts";

type Made = {
  query: string;
  rollout: number;
  pass: boolean | null;
  score?: number;
  blame?: Blame;
  reason?: string;
  stop?: StopReason;
  cost?: number;
};

/** A run folder with these rollouts, as evaluation leaves it. */
function runWith(rollouts: Made[], more: { failures?: object[]; messages?: object[]; dataset?: string } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dataset = more.dataset ?? "Desk";
  const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const keyOf = ({ query, rollout }: Made) => ({
    id: rollout === 0 ? query : `${query}#${rollout}`,
    dataset,
    query_id: query,
    rollout,
  });
  mkdirSync(join(folder, "trajectories"));
  writeFileSync(
    join(folder, "trajectories", `${dataset}.jsonl`),
    lines(
      rollouts.map((made) => ({
        ...keyOf(made),
        success: true,
        messages: more.messages ?? [],
        metadata: {
          total_turns: 2 + made.rollout,
          stop_reason: made.stop ?? "user_stop",
          tool_call_count: 3,
          usage: { agent: { input_tokens: 90, output_tokens: 10 } },
          cost_usd: made.cost ?? 0,
          models: { agent: "test/agent" },
          scripted: false,
        },
      })),
    ),
  );
  writeFileSync(
    join(folder, "scores.jsonl"),
    lines(
      rollouts.map((made) => ({
        ...keyOf(made),
        check: "state",
        version: 1,
        pass: made.pass,
        score: made.pass === null ? null : (made.score ?? Number(made.pass)),
        reason: made.reason ?? "",
        ...(made.blame ? { blame: made.blame } : {}),
      })),
    ),
  );
  writeFileSync(join(folder, "failures.jsonl"), lines(more.failures ?? []));
  const output = join(folder, "trajectories", `${dataset}.jsonl`);
  writeFileSync(
    join(folder, "manifest.json"),
    JSON.stringify({ format_version: 1, datasets: { [dataset]: { output } } }),
  );
  return folder;
}

const query = (name: string, passes: (boolean | null)[], more: Partial<Made> = {}): Made[] =>
  passes.map((pass, rollout) => ({ query: name, rollout, pass, ...more }));

describe("the numbers of a run", () => {
  test("overall, by dataset and by query", () => {
    const ten = query("a", [true, true, true, ...Array.from({ length: 7 }, () => false)]);
    const report = buildReport(runWith([...ten, ...query("b", [true, true])]));
    const { a, b } = report.datasets.Desk?.queries ?? {};
    expect(a?.pass_at_k["5"]).toBeCloseTo(0.9166666666666666, 12);
    expect(Object.keys(a?.pass_hat_k ?? {})).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    expect(b).toMatchObject({ outcome: "always", pass_at_k: { 1: 1, 2: 1 }, scored: 2 });
    expect(report.overall.pass_at_k["1"]).toBeCloseTo((0.3 + 1) / 2, 12);
    expect(report.overall.pass_at_k["5"]).toBeCloseTo(0.9166666666666666, 12);
    expect(report.overall.queries_with_k).toMatchObject({ 2: 2, 3: 1, 10: 1 });
    expect(report.overall).toMatchObject({ scored: 12, passed: 5, always: 1, wavers: 1, never: 0 });
    expect(report.datasets.Desk?.pass_hat_k).toEqual(report.overall.pass_hat_k);
  });

  test("with and without failures that were not the agent's", () => {
    const failures = [
      { dataset: "Desk", query_id: "c", rollout: 0, id: "c", error: "connection refused" },
      { dataset: "Desk", query_id: "a", rollout: 0, id: "a", error: "was mended later" },
    ];
    const report = buildReport(
      runWith(
        [
          ...query("a", [true]),
          ...query("a2", [false], { blame: "agent" }),
          ...query("b", [false], { blame: "user", reason: "it left" }),
          ...query("d", [null], { blame: "judge", reason: "the judge failed" }),
        ],
        { failures },
      ),
    );
    expect(report.blame).toEqual({ agent: 1, user: 1, judge: 1, infrastructure: 1 });
    expect(report.overall).toMatchObject({ scored: 4, passed: 1, success_rate: 0.25 });
    expect(report.agent_only).toMatchObject({ scored: 2, passed: 1, success_rate: 0.5 });
    expect(report.failures.map(({ blame, evidence }) => [blame, evidence])).toEqual([
      ["agent", "state: "],
      ["user", "state: it left"],
      ["infrastructure", "connection refused"],
    ]);
    expect(report.outcomes).toEqual({ passed: 1, failed: 3, "not scored": 1 });
  });

  test("the latest score of a rollout counts, and a run without scores is reported as far as it goes", () => {
    const folder = runWith(query("a", [false]));
    writeFileSync(
      join(folder, "scores.jsonl"),
      ["a", "b"]
        .map(
          (_, index) =>
            `${JSON.stringify({ dataset: "Desk", query_id: "a", rollout: 0, check: "state", version: 1, pass: index === 1, score: index, reason: "" })}\n`,
        )
        .join(""),
    );
    expect(buildReport(folder).overall.success_rate).toBe(1);
    writeFileSync(join(folder, "scores.jsonl"), "");
    expect(buildReport(folder)).toMatchObject({
      overall: { rollouts: 1, scored: 0, success_rate: null },
      stop_reasons: { user_stop: 1 },
    });
    expect(reportHtml([buildReport(folder)], undefined)).toContain("Nothing is scored yet");
  });

  test("tools are counted with their errors", () => {
    const call = (id: string) => ({
      role: "assistant",
      content: "",
      tool_calls: [{ id, type: "function", function: { name: "find", arguments: "{}" } }],
    });
    const messages = [
      call("1"),
      { role: "tool", tool_call_id: "1", content: '{"error":"no"}' },
      call("2"),
      { role: "tool", tool_call_id: "2", content: '{"ok":1}' },
    ];
    expect(buildReport(runWith(query("a", [true, true]), { messages })).tools).toEqual({
      find: { calls: 4, errors: 2 },
    });
  });
});

describe("runs side by side", () => {
  test("are compared on the queries that all have, and what changed comes first", () => {
    const before = buildReport(
      runWith([
        ...query("a", [true, true]),
        ...query("b", [true, false]),
        ...query("c", [true, true]),
        ...query("x", [false]),
      ]),
    );
    const after = buildReport(
      runWith([
        ...query("a", [false, false]),
        ...query("b", [true, true]),
        ...query("c", [true, true]),
        ...query("y", [true]),
      ]),
    );
    const comparison = compareReports([before, after]);
    expect(comparison).toMatchObject({ shared_queries: 3, left_out: 2 });
    expect(comparison.runs.map(({ overall }) => [overall.scored, overall.passed])).toEqual([
      [6, 5],
      [6, 4],
    ]);
    expect(comparison.changed).toEqual([
      { dataset: "Desk", query: "a", rates: [1, 0], outcomes: ["always", "never"] },
      { dataset: "Desk", query: "b", rates: [0.5, 1], outcomes: ["wavers", "always"] },
    ]);
    expect(reportHtml([before, after], comparison)).toContain("Queries that changed (2)");
  });
});

describe("the page", () => {
  const evil = `<img src=x onerror=alert(1)>"'&\u202e`;

  test("holds everything itself and asks nobody for anything", () => {
    const html = reportHtml(
      [buildReport(runWith([...query("a", [true, false, true]), ...query("b", [false, false, false], { cost: 0.2 })]))],
      undefined,
    );
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|https?:\/\/|<link|<img|url\(|@import/i);
    for (const title of [
      "pass@k and pass^k",
      "Outcomes, and whose fault",
      "Stop reasons",
      "Turns",
      "Tool calls",
      "Cost against score",
      "Checks",
    ])
      expect(html).toContain(title);
    expect(html.match(/<svg/g)?.length).toBeGreaterThanOrEqual(6);
    expect(html).toContain("prefers-color-scheme: dark");
  });

  test("shows text of models and names of queries as text", () => {
    const html = reportHtml(
      [buildReport(runWith(query(evil, [false], { reason: evil }), { dataset: "D&<b>" }))],
      undefined,
    );
    expect(html).not.toContain("<img");
    expect(html).not.toContain("<b>");
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;·");
    expect(escapeHtml("a\u0000b\u2067c")).toBe("a·b·c");
  });
});
