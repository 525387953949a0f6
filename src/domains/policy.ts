// A domain's policy as the agent reads it. Comments in the file mark its parts, for programs: global rules first, then a
// part for each tool (`<!-- TOOL: name -->` to `<!-- TOOL_END: name -->`).
import type { Mode } from "../core/index.ts";
import { readText } from "../files/index.ts";
import type { DomainFiles } from "./folder.ts";

/** Without the comments; undefined if there is no policy. In negative modes, also without the parts for tools. */
export function readPolicy(
  { policyFile }: Pick<DomainFiles, "policyFile">,
  mode: Mode = "positive",
): string | undefined {
  if (!policyFile) return undefined;
  const written = readText(policyFile);
  const text = mode === "positive" ? written : cutToolParts(written);
  return text
    .replace(COMMENT, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const COMMENT = /<!--[\s\S]*?-->/g;
const TOOL_PART = /<!--\s*TOOL:[\s\S]*?<!--\s*TOOL_END\b[\s\S]*?-->/g;
const CUT = "\0";
/** A heading with nothing but cuts before the next heading of its level or a higher one. */
const EMPTIED_HEADING = /^(#+) .*\s*\0[\s\0]*(?=(?!\1#)#|(?![\s\S]))/gm;

function cutToolParts(written: string): string {
  let text = written.replace(TOOL_PART, CUT).replace(COMMENT, "");
  // a heading above emptied ones is emptied by their removal
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(EMPTIED_HEADING, CUT);
  }
  return text.replaceAll(CUT, "");
}
