// What a chat template makes of rows, in a few lines; and where templates are looked for.
import { homedir } from "node:os";
import { join } from "node:path";
import type { TemplateSummary } from "../../export/index.ts";
import type { Host } from "../host.ts";
import { printable } from "./terminal.ts";

export const TEMPLATE_FLAG =
  "a chat template to render rows with: a .jinja file, a tokenizer folder, or a model in the local Hugging Face cache";

/** Where Hugging Face's own tools keep models. */
export function hubFolders(env: Host["env"]): string[] {
  const home = env.HF_HOME ?? join(env.XDG_CACHE_HOME ?? join(env.HOME ?? homedir(), ".cache"), "huggingface");
  return [...(env.HF_HUB_CACHE ? [env.HF_HUB_CACHE] : []), join(home, "hub")];
}

export function templateLines(summary: TemplateSummary): string[] {
  const { template, rows, reasoning, trainedReasoning, texts, calls, tools, problems } = summary;
  const once = calls.recorded - calls.twice - calls.lost;
  return [
    `behind ${template}: ${rows} rows`,
    `  reasoning rendered: ${trainedReasoning.rendered} of ${trainedReasoning.recorded} blocks in the loss, ${reasoning.rendered} of ${reasoning.recorded} in all`,
    `  texts rendered: ${texts.rendered} of ${texts.recorded}`,
    `  arguments: ${once} of ${calls.recorded} encoded once, ${calls.twice} twice, ${calls.lost} not rendered`,
    `  tools: ${tools.readable} of ${tools.offered} readable, ${tools.escaped} as escaped text, ${tools.lost} not rendered`,
    ...problems.map(
      ({ problem, rows: number, examples }) => `  ${problem}: ${number} rows, such as ${examples.join(", ")}`,
    ),
    ...(problems.length === 0 ? ["  every row is shown and learnt whole"] : []),
  ].map(printable);
}
