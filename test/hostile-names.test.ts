import { expect, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { lines, planQuery, SCRIPTED } from "./support/shop-dataset.ts";

const NASTY = "\u001b[31m\u001b]0;owned\u0007\u202e\u200f\u009b2J\u{e0041}";
const DOMAIN = `Shop${NASTY}X`;
const DATASET = `${DOMAIN}\nY`;
const QUERY = `q${NASTY}\n1`;
const RUN = ["run", "--config", "run.yml", "--output-dir", "out", ...SCRIPTED];
const FOLDER = "out";

/** What may never reach a terminal, apart from colours; and our own colours. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const COLOURS = /\u001b\[\d+(?:;\d+)*m/g;

function writeNasty(work: WorkFolder): void {
  const tool = { name: "find_item", description: "Finds.", parameters: { type: "object", properties: {} } };
  const call = { calls: [{ name: "find_item", arguments: {} }] };
  work.write(
    `shop/mcp_servers/${DOMAIN}.mjs`,
    `export default { today: "2026-02-02", reads: { find_item: () => ({ error: ${JSON.stringify(NASTY)} }) }, writes: {} };\n`,
  );
  work.write(`shop/tool_lists/${DOMAIN}.json`, JSON.stringify([{ type: "function", function: tool }]));
  work.write(`shop/policies/${DOMAIN}.md`, `Help.${NASTY}\n`);
  const queries = [QUERY, `${QUERY}b`].map((id) => planQuery(id, [{ steps: [call], say: `Here.${NASTY}` }]));
  const config = { base_path: "shop", datasets: { [DATASET]: { mcp_domain: DOMAIN } } };
  work.write("run.yml", JSON.stringify(config));
  work.write(`shop/queries/${DOMAIN}.jsonl`, lines([...queries, { ...queries[0], user_system_prompt: "another" }]));
}

type Command = [string[], number];
const COLOURED: Command[] = [
  [["single", "--list", "--verbose", "--base-path", "shop"], 0],
  [["status", FOLDER], 0],
  [["show", FOLDER], 0],
  [["show", FOLDER, QUERY], 0],
  [["report", FOLDER], 0],
  [[...RUN, "--verbose", "--no-resume"], 0],
];
const FIRST: Command[] = [
  [[...RUN, "--dry-run"], 0],
  [[...RUN, "--eval"], 0],
  [RUN, 0],
  [["resume", FOLDER, "--max-turns", "2"], 2],
  [["eval", FOLDER, "--force"], 0],
];
const THEN: Command[] = [
  ...COLOURED,
  [["single", "--list", "--base-path", "shop"], 0],
  [["check", "shop"], 0],
  [["stats", FOLDER], 0],
  [["replay", FOLDER], 0],
  [["export", FOLDER, "--format", NASTY], 2],
  [["models", "show", `openai/${NASTY}`], 0],
  [["doctor", "--agent-model", `nobody/${NASTY}`], 2],
  [["single", "--domains", `Shop${NASTY}`, "--base-path", "shop"], 2],
  [["single", `--${NASTY}`], 2],
  [["run", "--config", `${NASTY}.yml`], 2],
  [["show", FOLDER, `${QUERY}?`], 2],
  [["status", FOLDER, "--json"], 0],
  [["show", FOLDER, "--json"], 0],
];
test("names with escapes, bidi marks and line breaks are shown cleaned by every command, with and without colours", async () => {
  const work = workFolder();
  writeNasty(work);
  const expectClean = async ([args, expected]: Command, env: NodeJS.ProcessEnv = {}) => {
    const { code, stdout, stderr } = await work.run(args, { env });
    const shown = stdout + stderr;
    const what = `${args.join(" ")}: ${shown}`;
    expect(env.FORCE_COLOR ? shown.replace(COLOURS, "") : shown, what).not.toMatch(UNPRINTABLE);
    expect(shown, what).not.toContain("\u001b[31m\u00b7"); // none of theirs passed as one of ours
    if (expected === 0) expect(shown, what).not.toMatch(/^Y( |:|$)/m); // what follows the line break in a name
    expect(code, what).toBe(expected);
    if (args.at(-1) === "--json") for (const line of stdout.trim().split("\n")) JSON.parse(line);
  };
  for (const command of FIRST) await expectClean(command);
  await Promise.all(THEN.map((command) => expectClean(command)));
  await Promise.all(COLOURED.map((command) => expectClean(command, { FORCE_COLOR: "1" })));
  const { stdout } = await work.run(["show", FOLDER, "--json"]);
  expect(JSON.parse(stdout.split("\n")[0] as string)).toMatchObject({ query_id: QUERY, dataset: DATASET });
  const list = await work.run(["single", "--list", "--base-path", "shop"]);
  expect(list.stdout).toMatch(/^Shop·\[31m·\]0;owned····2J·X +3 +1 +yes/m);
}, 120_000);
