// A reference plan as an agent of a given skill performs it. With skill 1 that is the plan itself. Below 1, a share of
// 1 - skill of the rollouts fails for good in one of the ways real models do, and some calls of any rollout slip and are
// corrected at once. Everything follows from the seed, so a rollout fails the same way on every replay.
import {
  createRandom,
  type JsonObject,
  type PlanCall,
  type Random,
  type ReferencePlan,
  type ToolSpec,
  toPlain,
} from "../../core/index.ts";

export const FAILURES = [
  "wrong_argument",
  "wrong_tool",
  "malformed_json",
  "stops_early",
  "missing_confirmation",
] as const;
export type Failure = (typeof FAILURES)[number];

/** `cut`: the text of the arguments breaks off; `slip` marks a call that no reference may refer to. */
export type PerformedCall = PlanCall & { cut?: boolean; slip?: boolean };
type PerformedStep = { think?: string; text?: string; calls: PerformedCall[] };
export type PerformedTurn = { steps: PerformedStep[]; think?: string; say: string };
export type Performance = { turns: PerformedTurn[]; failure: Failure | undefined; slips: number };

export type PerformanceOptions = {
  skill: number;
  seed: number;
  tools: readonly ToolSpec[];
  wireName(planName: string): string;
};

const FALLBACK_SAY = "Is there anything else that you need?";

export function perform(plan: ReferencePlan, options: PerformanceOptions): Performance {
  const turns = plan.map((turn) => ({ steps: turn.steps ?? [], think: turn.think, say: turn.say ?? FALLBACK_SAY }));
  const faultless: Performance = { turns, failure: undefined, slips: 0 };
  if (options.skill >= 1) return faultless;
  const random = createRandom("scripted agent", options.seed);
  const performance = random.chance(1 - options.skill) ? fail(turns, options, random) : faultless;
  return withSlips(performance, options, random);
}

type Place = { turn: number; step: number; call: number };

function fail(turns: PerformedTurn[], options: PerformanceOptions, random: Random): Performance {
  const spec = (name: string) => options.tools.find((tool) => tool.name === options.wireName(name));
  const places = turns.flatMap((turn, t) =>
    turn.steps.flatMap((step, s) => step.calls.map((call, c) => ({ turn: t, step: s, call: c, planned: call }))),
  );
  // the call that decides the task: the last write, or the last call if nothing is written
  const target = places.findLast(({ planned }) => spec(planned.name)?.readOnly === false) ?? places.at(-1);
  if (!target)
    return { turns: turns.map((turn) => ({ ...turn, say: FALLBACK_SAY })), failure: "stops_early", slips: 0 };
  const preview = places.find(({ planned }) => planned.name === target.planned.name && !planned.arguments.confirm);
  const asksFirst = target.planned.arguments.confirm === true && preview !== undefined && preview.turn < target.turn;
  const failure = random.pick(FAILURES.filter((kind) => kind !== "missing_confirmation" || asksFirst));
  const name = target.planned.name;
  const failed = ((): PerformedTurn[] => {
    switch (failure) {
      case "wrong_argument": {
        const alter = chooseAlteration(target.planned.arguments, spec(name), random);
        return mapCalls(turns, (call) => (call.name === name ? { ...call, arguments: alter(call.arguments) } : call));
      }
      case "wrong_tool": {
        const others = options.tools.filter((tool) => tool.name !== options.wireName(name));
        const other = others.length > 0 ? random.pick(others).name : "do_it";
        return mapCalls(turns, (call) => (call.name === name ? { ...call, name: other, slip: true } : call));
      }
      case "malformed_json":
        return mapCalls(turns, (call) => (call.name === name ? { ...call, cut: true, slip: true } : call));
      case "stops_early":
        return turns.map((turn, index) => (index < target.turn ? turn : { ...turn, steps: [] }));
      case "missing_confirmation":
        return withoutAsking(turns, preview as Place, name);
    }
  })();
  return { turns: failed, failure, slips: 0 };
}

/** Writes at once instead of showing the preview and waiting for a yes; later it only talks. */
function withoutAsking(turns: PerformedTurn[], preview: Place, name: string): PerformedTurn[] {
  return turns.map((turn, index) => {
    if (index < preview.turn) return turn;
    const steps = turn.steps.map((step) => ({
      ...step,
      calls: step.calls.filter((call) => index === preview.turn || call.name !== name),
    }));
    if (index > preview.turn) return { ...turn, steps: steps.filter((step) => step.calls.length > 0) };
    const hasty = (call: PerformedCall) =>
      call.name === name ? { ...call, arguments: { ...call.arguments, confirm: true } } : call;
    return { ...turn, steps: steps.map((step) => ({ ...step, calls: step.calls.map(hasty) })) };
  });
}

/** Some calls go wrong at first and are corrected in the next step, after the agent has read the tool's error. */
function withSlips(performance: Performance, options: PerformanceOptions, random: Random): Performance {
  let slips = 0;
  const turns = performance.turns.map((turn) => ({
    ...turn,
    steps: turn.steps.flatMap((step) => {
      const index = step.calls.findIndex((call) => !call.slip && random.chance((1 - options.skill) * 0.3));
      if (index === -1) return [step];
      slips++;
      const call = slip(step.calls[index] as PerformedCall, options, random);
      return [
        { ...step, calls: [call] },
        { ...step, think: "That call was wrong. Let me do it again, carefully." },
      ];
    }),
  }));
  return { ...performance, turns, slips };
}

/** Each kind is answered with an error, so a slip never changes anything. */
function slip(call: PerformedCall, { tools, wireName }: PerformanceOptions, random: Random): PerformedCall {
  const name = wireName(call.name);
  const required = tools.find((tool) => tool.name === name)?.parameters.required;
  const missing = Object.keys(call.arguments).find((key) => Array.isArray(required) && required.includes(key));
  const kinds = [
    () => ({ ...call, name: misspell(name) }),
    () => ({ ...call, cut: true }),
    () => ({
      ...call,
      arguments: Object.fromEntries(Object.entries(call.arguments).filter(([key]) => key !== missing)),
    }),
  ];
  return { ...random.pick(missing ? kinds : kinds.slice(0, 2))(), slip: true };
}

function chooseAlteration(
  args: JsonObject,
  spec: ToolSpec | undefined,
  random: Random,
): (args: JsonObject) => JsonObject {
  const plain = toPlain(args);
  const keys = Object.keys(plain).filter(
    (key) => key !== "confirm" && ["string", "number", "boolean"].includes(typeof plain[key]),
  );
  if (keys.length === 0) return () => ({});
  const key = random.pick(keys);
  const schema = (spec?.parameters.properties as { [name: string]: JsonObject } | undefined)?.[key];
  const value = alterValue(plain[key] ?? "", schema, random);
  return (original) => ({ ...original, [key]: value });
}

function alterValue(value: JsonObject[string], schema: JsonObject | undefined, random: Random): JsonObject[string] {
  const others = Array.isArray(schema?.enum) ? schema.enum.filter((choice) => choice !== value) : [];
  if (others.length > 0) return random.pick(others);
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  const text = String(value);
  // the last digit is off by one: a record that does not exist, or someone else's
  const digit = /^([\s\S]*)(\d)(\D*)$/.exec(text);
  return digit ? `${digit[1]}${(Number(digit[2]) + 1) % 10}${digit[3]}` : `${text} (other)`;
}

function misspell(name: string): string {
  const swapped = name.replace(/_([a-z])([a-z])/, "_$2$1");
  return swapped === name ? `${name}s` : swapped;
}

function mapCalls(turns: PerformedTurn[], change: (call: PerformedCall) => PerformedCall): PerformedTurn[] {
  return turns.map((turn) => ({
    ...turn,
    steps: turn.steps.map((step) => ({ ...step, calls: step.calls.map(change) })),
  }));
}
