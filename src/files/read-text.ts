// A text file as people write it.
import { readFileSync } from "node:fs";
import { UsageError } from "../core/index.ts";
import { placeIn } from "./read-json.ts";

/** Refuses a NUL: such a file is no text, or one in another encoding than UTF-8. */
export function readText(file: string): string {
  const text = readFileSync(file, "utf8");
  const at = text.indexOf("\0");
  if (at === -1) return text;
  throw new UsageError("there is a NUL character here; the file must be text in UTF-8", placeIn(text, at, { file }));
}
