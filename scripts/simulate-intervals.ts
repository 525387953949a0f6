// How often the 95 % intervals hold the truth: npx tsx scripts/simulate-intervals.ts prints the tables of
// docs/intervals.md and docs/zh/intervals.md; with --write it puts them there, between `<!-- coverage -->` and
// `<!-- end -->`. Seeded: the same tables on every machine, in less than three minutes.
import { readFileSync, writeFileSync } from "node:fs";
import { createRandom, type Random, sum } from "../src/core/index.ts";
import { passAtK, passHatK } from "../src/scoring/estimators.ts";
import {
  type Cluster,
  differenceInterval,
  type Interval,
  meanInterval,
  shareInterval,
  studentT975,
} from "../src/scoring/intervals.ts";

const REPLICATIONS = 2000;
const QUERIES = [20, 50, 100, 200, 500];
const ROLLOUTS = [1, 2, 4, 8, 16];
const KS = [1, 2, 4, 8];
/** Unequal rollouts: each query has from 1 to 8, and k goes up to 4. */
const MAX_UNEQUAL = 8;
const MAX_UNEQUAL_K = 4;
/**
 * Events are failures or passes, whichever are fewer, in queries' worth. Below the first level outcomes are too few and
 * too coarse for 95 %.
 */
const LEVELS = [3, 10];

/** How hard queries are: Beta distributions of a query's chance to pass, mixed; equal chances are an endless Beta. */
type Difficulty = { name: string; parts: { share: number; a: number; b: number }[] };

const beta = (a: number, b: number): Difficulty => ({ name: `Beta(${a}, ${b})`, parts: [{ share: 1, a, b }] });
const even = (share: number, chance: number) => ({ share, a: chance * 1e12, b: (1 - chance) * 1e12 });
const constant = (chance: number): Difficulty => ({ name: `always ${chance}`, parts: [even(1, chance)] });

const DIFFICULTIES = [
  ...[beta(9, 1), beta(1, 9), beta(0.5, 0.5), beta(2, 2), beta(19, 1), beta(1, 19), beta(99, 1)],
  ...[0.02, 0.1, 0.5, 0.9, 0.98].map(constant),
];
const MIXTURES: Difficulty[] = [
  { name: "5 % at 0, else 0.95", parts: [even(0.05, 0), even(0.95, 0.95)] },
  {
    name: "2 % at 0, else Beta(9, 1)",
    parts: [even(0.02, 0), { share: 0.98, a: 9, b: 1 }],
  },
  { name: "10 % at 0.5, else 1", parts: [even(0.1, 0.5), even(0.9, 1)] },
];

/** What the second run does to a query, and by how much that changes the mean chance. */
type Effect = {
  name: string;
  /** undefined leaves the query as it was */
  certain: (random: Random) => boolean | undefined;
  /** of failures that turn into passes */
  lift: number;
  shift: (chance: number) => number;
};
const EFFECTS: Effect[] = [
  { name: "no change", certain: () => undefined, lift: 0, shift: () => 0 },
  { name: "a tenth of failures mended", certain: () => undefined, lift: 0.1, shift: (p) => (1 - p) * 0.1 },
  {
    name: "5 % of queries solved",
    certain: (random) => random.chance(0.05) || undefined,
    lift: 0,
    shift: (p) => (1 - p) * 0.05,
  },
  {
    name: "5 % of queries broken",
    certain: (random) => (random.chance(0.05) ? false : undefined),
    lift: 0,
    shift: (p) => -p * 0.05,
  },
];

type Method = "student" | "own";
type Cell = {
  kind: "statistic" | "mixture" | "difference";
  statistic: string;
  difficulty: string;
  queries: number;
  rollouts: string;
  events: number;
  coverage: { [method in Method]: number };
  width: { [method in Method]: number };
};

type Language = "en" | "zh";

const WORDS = {
  en: {
    kinds: { statistic: "one run", mixture: "mixtures", difference: "difference" },
    levels: ["fewer than 3 events", "3 to 10 events", "10 events or more"],
    summary: ["", "cells", "below 93 %", "93–97.5 %", "above 97.5 %", "lowest", "where", "width"],
    statistics: ["3 events or more", "cells", "93–97.5 %", "lowest", "highest"],
    example: "pass@4, n = 8",
    queries: "queries",
  },
  zh: {
    kinds: { statistic: "单次运行", mixture: "混合", difference: "差值" },
    levels: ["事件少于 3", "事件 3 到 10", "事件 10 以上"],
    summary: ["", "单元", "低于 93 %", "93–97.5 %", "高于 97.5 %", "最低", "位置", "宽度"],
    statistics: ["事件 3 以上", "单元", "93–97.5 %", "最低", "最高"],
    example: "pass@4，n = 8",
    queries: "条查询",
  },
};

const CHINESE: { [name: string]: string } = {
  "success rate": "成功率",
  "5 % at 0, else 0.95": "5 % 为 0，其余 0.95",
  "2 % at 0, else Beta(9, 1)": "2 % 为 0，其余 Beta(9, 1)",
  "10 % at 0.5, else 1": "10 % 为 0.5，其余 1",
  "no change": "没有变化",
  "a tenth of failures mended": "修复十分之一的失败",
  "5 % of queries solved": "5 % 的查询变为总能通过",
  "5 % of queries broken": "5 % 的查询变为总不通过",
};

const cells: Cell[] = [];
for (const difficulty of [...DIFFICULTIES, ...MIXTURES])
  for (const queries of QUERIES) {
    for (const rollouts of ROLLOUTS) simulateRun(difficulty, queries, rollouts);
    simulateRun(difficulty, queries, "unequal");
  }
for (const difficulty of [beta(9, 1), beta(1, 9), beta(0.5, 0.5), beta(2, 2), constant(0.98)])
  for (const effect of EFFECTS)
    for (const queries of QUERIES)
      for (const rollouts of [1, 4, 16]) simulatePair(difficulty, effect, queries, rollouts);

const tables = { en: renderTables("en"), zh: renderTables("zh") };
if (process.argv.includes("--write")) {
  for (const [language, path] of [
    ["en", "docs/intervals.md"],
    ["zh", "docs/zh/intervals.md"],
  ] as const) {
    const page = new URL(`../${path}`, import.meta.url);
    const marked = /(<!-- coverage -->\n)[\s\S]*?(<!-- end -->)/;
    writeFileSync(page, readFileSync(page, "utf8").replace(marked, `$1${tables[language]}\n$2`));
  }
} else console.log(tables.en);

function simulateRun(difficulty: Difficulty, queries: number, rollouts: number | "unequal"): void {
  const random = createRandom("run", difficulty.name, queries, rollouts);
  const isUnequal = rollouts === "unequal";
  const most = isUnequal ? MAX_UNEQUAL : rollouts;
  const ks = KS.filter((k) => k > 1 && k <= (isUnequal ? MAX_UNEQUAL_K : most));
  const watched = [
    watchShare(difficulty),
    ...(isUnequal ? [watchAverage(difficulty)] : []), // else it is the success rate
    ...ks.flatMap((k) => [watchPass(difficulty, k, most, "@"), watchPass(difficulty, k, most, "^")]),
  ].map((statistic) => ({ ...statistic, tally: createTally(statistic.target) }));
  for (let replication = 0; replication < REPLICATIONS; replication++) {
    const clusters: Cluster[] = [];
    while (clusters.length < queries) {
      const count = isUnequal ? 1 + random.int(most) : most;
      clusters.push({ count, total: drawPasses(random, pickPart(random, difficulty), [0, 0], count) });
    }
    for (const { measure, tally } of watched) tally.add(measure(clusters));
  }
  for (const { name, target, k = 1, tally } of watched) {
    const counted = isUnequal ? queries * (1 - (k - 1) / most) : queries;
    cells.push({
      kind: MIXTURES.includes(difficulty) ? "mixture" : "statistic",
      statistic: name,
      difficulty: difficulty.name,
      queries,
      rollouts: isUnequal ? `1–${MAX_UNEQUAL}` : String(rollouts),
      events: counted * Math.min(target, 1 - target),
      ...tally.close(),
    });
  }
}

function simulatePair(difficulty: Difficulty, effect: Effect, queries: number, rollouts: number): void {
  const random = createRandom("pair", difficulty.name, effect.name, queries, rollouts);
  const tally = createTally(effect.shift(momentOf(difficulty, 1, "a")));
  let moved = 0;
  for (let replication = 0; replication < REPLICATIONS; replication++) {
    const differences = Array.from({ length: queries }, () => {
      const part = pickPart(random, difficulty);
      const before = drawPasses(random, part, [0, 0], rollouts);
      const certain = effect.certain(random);
      let after = drawPasses(random, part, [before, rollouts - before], rollouts);
      if (certain !== undefined) after = certain ? rollouts : 0;
      for (let failed = rollouts - after; effect.lift > 0 && failed > 0; failed--)
        if (random.chance(effect.lift)) after++;
      return (after - before) / rollouts;
    });
    moved += sum(differences.map(Math.abs)) / REPLICATIONS;
    tally.add({
      own: differenceInterval(differences) as Interval,
      student: studentInterval(toClusters(differences), -1),
    });
  }
  cells.push({
    kind: "difference",
    statistic: effect.name,
    difficulty: difficulty.name,
    queries,
    rollouts: String(rollouts),
    events: moved,
    ...tally.close(),
  });
}

type Watched = {
  name: string;
  target: number;
  k?: number;
  measure: (clusters: readonly Cluster[]) => { [method in Method]: Interval };
};

function watchShare(difficulty: Difficulty): Watched {
  return {
    name: "success rate",
    target: momentOf(difficulty, 1, "a"),
    measure: (clusters) => ({ own: shareInterval(clusters) as Interval, student: studentInterval(clusters) }),
  };
}

function watchAverage(difficulty: Difficulty): Watched {
  return {
    name: "avg@n",
    target: momentOf(difficulty, 1, "a"),
    measure: (clusters) => measureMean(clusters.map(({ total, count }) => total / count)),
  };
}

function watchPass(difficulty: Difficulty, k: number, most: number, kind: "@" | "^"): Watched {
  const estimate = kind === "@" ? passAtK : passHatK;
  const known = Array.from({ length: most + 1 }, (_, n) =>
    Array.from({ length: n + 1 }, (_, passed) => estimate(n, passed, k)),
  );
  return {
    name: `pass${kind}${k}`,
    target: kind === "@" ? 1 - momentOf(difficulty, k, "b") : momentOf(difficulty, k, "a"),
    k,
    measure: (clusters) => {
      const values: number[] = [];
      for (const { total, count } of clusters) if (count >= k) values.push(known[count]?.[total] as number);
      return measureMean(values);
    },
  };
}

function measureMean(values: readonly number[]): { [method in Method]: Interval } {
  return { own: meanInterval(values) as Interval, student: studentInterval(toClusters(values)) };
}

function toClusters(values: readonly number[]): Cluster[] {
  return values.map((total) => ({ total, count: 1 }));
}

/** The mean of p^k, or of (1-p)^k, over the queries' chances p. */
function momentOf({ parts }: Difficulty, k: number, side: "a" | "b"): number {
  const rise = (part: { a: number; b: number }) =>
    Array.from({ length: k }, (_, i) => (part[side] + i) / (part.a + part.b + i)).reduce((x, y) => x * y, 1);
  return sum(parts.map((part) => part.share * rise(part)));
}

function pickPart(random: Random, { parts }: Difficulty): { a: number; b: number } {
  if (parts.length === 1) return parts[0] as { a: number; b: number };
  let left = random.next();
  for (const part of parts) {
    left -= part.share;
    if (left < 0) return part;
  }
  return parts[0] as { a: number; b: number };
}

/** Of further rollouts of a query with these passes and failures so far: Pólya's urn, the same as drawing its chance. */
function drawPasses(random: Random, part: { a: number; b: number }, [passed, failed]: [number, number], count: number) {
  let [a, b, passes] = [part.a + passed, part.b + failed, 0];
  for (let i = 0; i < count; i++) {
    if (random.next() * (a + b) < a) {
      a++;
      passes++;
    } else b++;
  }
  return passes;
}

function createTally(target: number) {
  const held = { student: 0, own: 0 };
  const width = { student: 0, own: 0 };
  const methods = ["student", "own"] as const;
  return {
    add(intervals: { [method in Method]: Interval }): void {
      for (const method of methods) {
        const { low, high } = intervals[method];
        if (low <= target + 1e-12 && high >= target - 1e-12) held[method]++;
        width[method] += high - low;
      }
    },
    close: () => ({ coverage: { student: held.student / REPLICATIONS, own: held.own / REPLICATIONS }, width }),
  };
}

/** For comparison: Student's t with the cluster-robust variance, Wilson over the queries if nothing varies. */
function studentInterval(groups: readonly Cluster[], lowest = 0): Interval {
  let [count, total, squares] = [0, 0, 0];
  for (const group of groups) {
    count += group.count;
    total += group.total;
  }
  const share = total / count;
  for (const group of groups) squares += (group.total - share * group.count) ** 2;
  const error = Math.sqrt((groups.length / (groups.length - 1)) * squares) / count;
  if (error < 1e-12 && lowest === 0) {
    const [z, n] = [1.959964, groups.length];
    const middle = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
    const reach = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
    return { low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
  }
  const reach = studentT975(groups.length - 1) * error;
  return { low: Math.max(lowest, share - reach), high: Math.min(1, share + reach) };
}

function renderTables(language: Language): string {
  return [renderSummary(language), renderStatistics(language), renderExample(language)].join("\n\n");
}

function renderSummary(language: Language): string {
  const words = WORDS[language];
  const rows = (["statistic", "mixture", "difference"] as const).flatMap((kind) =>
    words.levels.map((level, index) => {
      const own = cells.filter((cell) => cell.kind === kind && levelOf(cell) === index);
      const worst = own.reduce((least, cell) => (cell.coverage.own < least.coverage.own ? cell : least));
      return [
        `${words.kinds[kind]}, ${level}`,
        String(own.length),
        ...[0, 1, 2].map((part) => showBoth(own, (coverages) => sharesOf(coverages)[part] as number)),
        showBoth(own, (coverages) => Math.min(...coverages)),
        placeOf(worst, language),
        medianOf(own.map(({ width }) => width.own / width.student)).toFixed(2),
      ];
    }),
  );
  return renderTable(words.summary, rows);
}

function renderStatistics(language: Language): string {
  const names = ["success rate", "avg@n", ...["@", "^"].flatMap((kind) => KS.slice(1).map((k) => `pass${kind}${k}`))];
  const rows = names.map((name) => {
    const own = cells.filter((cell) => cell.kind === "statistic" && cell.statistic === name && levelOf(cell) > 0);
    return [
      nameOf(name, language),
      String(own.length),
      showBoth(own, (coverages) => sharesOf(coverages)[1] as number),
      showBoth(own, (coverages) => Math.min(...coverages)),
      showBoth(own, (coverages) => Math.max(...coverages)),
    ];
  });
  return renderTable(WORDS[language].statistics, rows);
}

function renderExample(language: Language): string {
  const words = WORDS[language];
  const rows = [...DIFFICULTIES, ...MIXTURES].map(({ name }) => {
    const own = cells.filter(
      (cell) => cell.difficulty === name && cell.rollouts === "8" && cell.statistic === "pass@4",
    );
    const shown = own.map(
      (cell) => `${showBoth([cell], ([coverage]) => coverage as number)}${levelOf(cell) > 0 ? "" : " *"}`,
    );
    return [nameOf(name, language), ...shown];
  });
  return renderTable([words.example, ...QUERIES.map((queries) => `${queries} ${words.queries}`)], rows);
}

function levelOf({ events }: Cell): number {
  return LEVELS.filter((level) => events >= level).length;
}

function showBoth(group: readonly Cell[], read: (coverages: number[]) => number): string {
  const [student, own] = (["student", "own"] as const).map((method) => {
    return (100 * read(group.map(({ coverage }) => coverage[method]))).toFixed(1);
  });
  return `${student} → ${own}`;
}

/** Below, within and above the range that is aimed at. */
function sharesOf(coverages: readonly number[]): number[] {
  const below = coverages.filter((coverage) => coverage < 0.93).length;
  const above = coverages.filter((coverage) => coverage > 0.975).length;
  return [below, coverages.length - below - above, above].map((count) => count / coverages.length);
}

function placeOf({ statistic, difficulty, queries, rollouts }: Cell, language: Language): string {
  const [what, how] = [statistic, difficulty].map((name) => nameOf(name, language));
  return `${what}, ${how}, ${queries} ${WORDS[language].queries}, n = ${rollouts}`;
}

function nameOf(name: string, language: Language): string {
  return language === "en" ? name : (CHINESE[name] ?? name.replace("always", "恒为"));
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
