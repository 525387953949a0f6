// Queries that bring tools of their own, which nobody can execute: those with the same tools share a server, which
// answers from a file.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, groupBy, type JsonObject, writeExact } from "../core/index.ts";
import { noteBrokenCalls } from "./broken-calls.ts";
import type { Tally } from "./tally.ts";
import type { DescribedTool } from "./tool-schema.ts";
import { type ImportedGroup, makeFolder, writeDataset } from "./write-dataset.ts";

export type RecordedAnswer = {
  query: string;
  name: string;
  arguments: JsonObject;
  content: string;
  is_error: boolean;
};

export type DescribedTask = { query: JsonObject; tools: DescribedTool[]; answers: RecordedAnswer[] };

export type DescribedDataset = {
  folder: string;
  name: string;
  python: string;
  tasks: DescribedTask[];
  /** what becomes of a call that was not recorded */
  otherwise: "accept" | "error";
  tally: Tally;
};

export function writeDescribed({ folder, name, python, tasks, otherwise, tally }: DescribedDataset): void {
  makeFolder(folder);
  mkdirSync(join(folder, "tools"), { recursive: true });
  const byTools = [...groupBy(tasks, ({ tools }) => canonicalJson(tools)).values()];
  const groups = byTools.map((members, index): ImportedGroup => {
    const file = join(folder, "tools", `${index + 1}.json`);
    const queries = members.map(({ query }) => query);
    const tools = members[0]?.tools ?? [];
    noteBrokenCalls(queries, tools, tally);
    const answers = members.flatMap((task) => task.answers);
    writeFileSync(file, writeExact({ tools, answers, otherwise }));
    return {
      name: byTools.length === 1 ? name : `${name}-${index + 1}`,
      queries,
      server: {
        command: python,
        args: [join(folder, "recorded_server.py"), file],
        ...(otherwise === "accept"
          ? { ...(otherwise === "accept" ? { isolation: "shared", read_only: true } : { isolation: "pool" }) }
          : { isolation: "pool" }),
      },
    };
  });
  writeDataset({ folder, name, servers: ["recorded_server.py"], groups });
}
