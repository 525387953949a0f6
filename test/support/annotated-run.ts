// A small run to annotate: two queries, two rollouts each.
import { execFileSync } from "node:child_process";
import { PROGRAM } from "./cli.ts";

export function makeRun(folder: string, ...more: string[]): void {
  const what = ["--domains", "StudentHealthServices", "--bundled", "--limit", "2", "--rollouts", "2"];
  execFileSync(process.execPath, [PROGRAM, "single", ...what, "--output-dir", folder, "--quiet", ...more]);
}
