import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Blame, StopReason } from "../../core/index.ts";
import { compareReports } from "./compare.ts";
import { readDialogues } from "./dialogues.ts";
import { reportHtml } from "./html.ts";
import { rankQueries } from "./rank-queries.ts";
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
    expect(report.overall).toMatchObject({ query_count: 4, rollouts: 4, scored: 3, passed: 1, success_rate: 1 / 3 });
    expect(report.with_infrastructure).toMatchObject({
      query_count: 5,
      rollouts: 5,
      scored: 4,
      passed: 1,
      success_rate: 0.25,
    });
    expect(report.datasets.Desk).toMatchObject({ scored: 3, with_infrastructure: { scored: 4 } });
    expect(report.datasets.Desk?.queries.c).toMatchObject({
      ...{ rollouts: 0, scored: 0, outcome: "not scored" },
      verdicts: [{ id: "c", verdict: "not played", pass: false, blame: "infrastructure" }],
    });
    expect(report.agent_only).toMatchObject({ scored: 2, passed: 1, success_rate: 0.5 });
    expect(report.failures.map(({ blame, evidence }) => [blame, evidence])).toEqual([
      ["agent", "state: "],
      ["user", "state: it left"],
      ["infrastructure", "connection refused"],
    ]);
    expect(report.outcomes).toEqual({ passed: 1, failed: 2, "not scored": 1, infrastructure: 1 });
    const html = reportHtml([report], undefined);
    expect(html).toContain("Counting 1 infrastructure failure as not solved: 25.0 % of 4");
    expect(html).toMatch(/>not played<\/span> c <span class="small">Desk · infrastructure 1</);
  });

  test("time that ran out is nobody's failure, and a run without infrastructure failures does not mention any", () => {
    const slow = buildReport(
      runWith([...query("a", [true]), ...query("b", [false], { stop: "time_limit" }), ...query("c", [false])]),
    );
    expect([slow.overall.success_rate, slow.with_infrastructure.success_rate]).toEqual([0.5, 1 / 3]);
    const none = buildReport(runWith(query("a", [true, false])));
    expect(none.with_infrastructure).toEqual(none.overall);
    expect(reportHtml([none], undefined)).not.toMatch(/infrastructure/);
  });

  test("what is unscored is counted beside the numbers, and a run of nothing else says why", () => {
    const mixed = buildReport(runWith(query("a", [true, null, false], { reason: "not checkable: no plan" })));
    expect(mixed.outcomes).toMatchObject({ passed: 1, failed: 1, "not scored": 1 });
    expect(mixed.overall.pass_at_k).toEqual({ 1: 0.5, 2: 1 });
    expect(mixed.unscored_reasons).toEqual({ "state: not checkable: no plan": 1 });
    const unscored = buildReport(
      runWith([
        ...query("a", [null], { reason: "not checkable: <odd>" }),
        ...query("b", [null, null], { reason: "not checkable: no plan" }),
      ]),
    );
    expect(Object.keys(unscored.unscored_reasons)).toEqual([
      "state: not checkable: no plan",
      "state: not checkable: <odd>",
    ]);
    expect(reportHtml([unscored], undefined)).toContain(
      "No rollout could be scored: 3 unscored. The most frequent reason (2): state: not checkable: no plan",
    );
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

describe("queries, worst first", () => {
  const messages = [
    { role: "user", content: "Renew <b>it</b>." },
    {
      role: "assistant",
      content: "",
      reasoning_content: "Look it up.",
      tool_calls: [{ id: "1", type: "function", function: { name: "find", arguments: '{"id":7}' } }],
    },
    { role: "tool", tool_call_id: "1", content: `{"error":"${"x".repeat(5000)}"}` },
    { role: "assistant", content: "Done." },
  ];

  test("by solved rate, then by score; unscored ones before those that always pass", () => {
    const report = buildReport(
      runWith([
        ...query("fine", [true, true]),
        ...query("open", [null]),
        ...query("half", [true, false]),
        ...query("low", [false], { score: 0.2 }),
        ...query("none", [false]),
      ]),
    );
    expect(rankQueries(report).map((ranked) => ranked.query)).toEqual(["none", "low", "half", "open", "fine"]);
  });

  test("each rollout has its verdict and evidence, and the first three their dialogue, failed ones first", () => {
    const folder = runWith(query("a", [true, true, false, null, true], { reason: "it is not renewed" }), { messages });
    const report = buildReport(folder);
    expect(report.datasets.Desk?.queries.a?.verdicts[2]).toEqual({
      id: "a#2",
      rollout: 2,
      verdict: "failed",
      pass: false,
      score: 0,
      decided_by: ["state"],
      blame: "agent",
      evidence: "state: it is not renewed",
      stop_reason: "user_stop",
    });
    const dialogues = readDialogues(report);
    expect([...dialogues.keys()].sort()).toEqual([0, 2, 3].map((rollout) => JSON.stringify(["Desk", "a", rollout])));
    const html = reportHtml([report], undefined, [dialogues]);
    const shown = [...html.matchAll(/<strong>(.*?)<\/strong>/g)].map(([, id]) => id);
    expect(shown).toEqual(["a#2", "a#3", "a", "a#1", "a#4"]);
    expect(html.match(/class="dialogue"/g)).toHaveLength(3);
    expect(html).toContain('<dd class="user">Renew &lt;b&gt;it&lt;/b&gt;.</dd>');
    expect(html).toMatch(/thinks<\/dt>.*\n.*find {&quot;id&quot;:7}<\/dd>\n.*<dd class="error">.*x…<\/dd>\n.*Done\./);
    expect(html).toContain(`npx rollout show ${folder} &#39;a#1&#39;`);
  });

  test("a huge run makes a page of bounded size that says what it left out", () => {
    const long = Array.from({ length: 300 }, () => ({ role: "user", content: "y".repeat(900) }));
    const folder = runWith(Array.from({ length: 130 }, (_, index) => query(`q${index}`, [false])).flat(), {
      messages: long,
    });
    const report = buildReport(folder);
    const html = reportHtml([report], undefined, [readDialogues(report)]);
    expect(html.length).toBeLessThan(2_000_000);
    expect(html.match(/class="dialogue"/g)).toHaveLength(100);
    expect(html).toContain("30 more queries are in report.json");
    expect(html).toContain("287 more entries: <code>npx rollout show");
    const many = buildReport(
      runWith(
        query(
          "a",
          Array.from({ length: 25 }, () => false),
        ),
      ),
    );
    expect(reportHtml([many], undefined)).toContain("5 more: <code>npx rollout show");
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
