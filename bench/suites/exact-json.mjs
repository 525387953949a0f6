// Reading and writing JSON that keeps its numbers, next to JSON.parse and JSON.stringify.
import { parseExact, writeExact } from "../../dist/core/index.js";
import { best, report, round } from "../support/measure.mjs";

const REPEATS = 3000;

/** A tool list of some 10 KB; `limit` is a number in it, as text. */
function toolList(limit) {
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [
      `parameter_${n}`,
      { type: "integer", description: `The "parameter" ${n} of this tool`, minimum: n, maximum: 0.5 },
    ]),
  );
  const tools = Array.from({ length: 10 }, (_, n) => ({
    type: "function",
    function: { name: `tool_${n}`, description: "Does one thing.", parameters: { type: "object", properties } },
  }));
  return JSON.stringify(tools).replaceAll('"maximum":0.5', `"maximum":${limit}`);
}

const repeat = (work) =>
  best(5, async () => {
    for (let n = 0; n < REPEATS; n++) work();
  });
const rows = [];
for (const [what, limit] of [
  ["no such numbers", "0.5"],
  ["eighty of them", "9223372036854775807"],
]) {
  const text = toolList(limit);
  const parse = await repeat(() => JSON.parse(text));
  const read = await repeat(() => parseExact(text));
  const plain = JSON.parse(text);
  const exact = parseExact(text);
  const stringify = await repeat(() => JSON.stringify(plain));
  const write = await repeat(() => writeExact(exact));
  rows.push({
    "a text with": what,
    KB: round(text.length / 1000, 1),
    "parse, µs": round((parse.cpuMs * 1000) / REPEATS, 1),
    "times JSON.parse": round(read.cpuMs / parse.cpuMs),
    "write, µs": round((stringify.cpuMs * 1000) / REPEATS, 1),
    "times JSON.stringify": round(write.cpuMs / stringify.cpuMs),
  });
}
report([{ title: "JSON that keeps its numbers", rows }]);
