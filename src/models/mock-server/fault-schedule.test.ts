import { expect, test } from "vitest";
import { FaultSchedule } from "./fault-schedule.ts";
import { type FaultKind, parseFaults } from "./fault-spec.ts";

const any = () => true;

function planOf(spec: string, seed = 1): FaultSchedule {
  return new FaultSchedule(parseFaults(spec), seed);
}

function kinds(
  plan: FaultSchedule,
  contents: string[],
  canDo: (kind: FaultKind) => boolean = any,
): (string | undefined)[] {
  return contents.map((content) => plan.choose(content, canDo)?.kind);
}

const HUNDREDS = Array.from({ length: 2000 }, (_, index) => `request ${index}`);

test("a spec is read into rules: rates, bursts, positions and values", () => {
  expect(parseFaults("429:30=0.1, 503=.02x3,reset@5-7,429:date@3,")).toEqual([
    { kind: "429", value: "30", when: { rate: 0.1, burst: 1 } },
    { kind: "503", when: { rate: 0.02, burst: 3 } },
    { kind: "reset", when: { from: 5, to: 7 } },
    { kind: "429", value: "date", when: { from: 3, to: 3 } },
  ]);
});

test.each([
  ["restet=0.1", 'There is no fault "restet"; did you mean "reset"?'],
  ["429", "write a rate"],
  ["429=2", "from 0 to 1"],
  ["429@0", "count from 1"],
  ["429@7-5", "count from 1"],
  ["hang:5=0.1", "take a value"],
  ["slow:long=0.1", "take a value"],
])("%s is refused with what would be right", (spec, message) => {
  expect(() => parseFaults(spec)).toThrow(message);
});

test("rates follow from seed and content, whatever the order of arrival", () => {
  const forwards = kinds(planOf("500=0.1,malformed=0.2"), HUNDREDS);
  const backwards = kinds(planOf("500=0.1,malformed=0.2"), HUNDREDS.toReversed()).toReversed();
  expect(backwards).toEqual(forwards);
  expect(kinds(planOf("500=0.1,malformed=0.2", 2), HUNDREDS)).not.toEqual(forwards);
  const count = (kind: string) => forwards.filter((met) => met === kind).length;
  expect(count("500")).toBeGreaterThan(150);
  expect(count("500")).toBeLessThan(250);
  expect(count("malformed")).toBeGreaterThan(290);
  expect(count("malformed")).toBeLessThan(430);
});

test("a request that is asked again after a passing fault is drawn anew; a lasting fault stays", () => {
  const plan = planOf("500=0.5");
  const series = (content: string) => {
    const met = [plan.choose(content, any)];
    while (met.at(-1)) met.push(plan.choose(content, any));
    return met.length;
  };
  const first = HUNDREDS.slice(0, 50).map(series);
  expect(Math.max(...first)).toBeGreaterThan(2);
  // once answered, the same request later meets the same series again
  expect(HUNDREDS.slice(0, 50).map(series)).toEqual(first);
  const lasting = planOf("always500=0.5,overflow=0.2");
  expect(kinds(lasting, HUNDREDS)).toEqual(kinds(lasting, HUNDREDS));
});

test("a burst meets a request so many times in a row", () => {
  const plan = planOf("503=0.05x3");
  const hit = HUNDREDS.find((content) => planOf("503=0.05x3").choose(content, any)) as string;
  expect(kinds(plan, [hit, hit, hit])).toEqual(["503", "503", "503"]);
});

test("a position counts the requests that the fault can be done to", () => {
  const plan = planOf("malformed@2,reset@3-4");
  const canDo = (content: string) => (kind: FaultKind) => kind !== "malformed" || content.startsWith("call");
  const met = ["say", "call a", "say", "call b", "call c"].map((content) => plan.choose(content, canDo(content))?.kind);
  expect(met).toEqual([undefined, undefined, "reset", "malformed", undefined]);
});

test("always500 at a position fails the request that stood there, every time it comes back", () => {
  const plan = planOf("always500@2");
  expect(kinds(plan, ["a", "b", "a", "b", "c", "b"])).toEqual([
    undefined,
    "always500",
    undefined,
    "always500",
    undefined,
    "always500",
  ]);
});
