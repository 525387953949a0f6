// Reference calls that break the schema of their own tool: such a call is answered with what
// is wrong, and not made, so it is no reference here.
import { isObject, type JsonObject, listPlannedCalls, type ReferencePlan, writeExact } from "../core/index.ts";
import { checkArguments } from "../tools/index.ts";
import type { Tally } from "./tally.ts";
import type { DescribedTool } from "./tool-schema.ts";

export function noteBrokenCalls(queries: JsonObject[], tools: DescribedTool[], tally: Tally): void {
  const specs = new Map(tools.map((tool) => [tool.name, { ...tool, readOnly: false }]));
  for (const { id, task_info: info } of queries) {
    const plan = (isObject(info) && Array.isArray(info.plan) ? info.plan : []) as ReferencePlan;
    const broken = listPlannedCalls(plan).some(({ name, arguments: args }) => {
      const spec = specs.get(name);
      return spec && !checkArguments(spec, writeExact(args)).ok;
    });
    if (!broken || !isObject(info)) continue;
    delete info.plan;
    tally.lose(
      String(id),
      "broken_call",
      "reference calls that break their own tool's schema: such a task has no plan",
    );
  }
}
