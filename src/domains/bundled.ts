// The domains that ship with the program: a dataset folder like any other.
import { fileURLToPath } from "node:url";
import { DatasetFolder, type FolderOptions } from "./folder.ts";

export const BUNDLED_PATH = fileURLToPath(new URL("./bundled", import.meta.url));

export function bundledFolder(options: FolderOptions = {}): DatasetFolder {
  return new DatasetFolder(BUNDLED_PATH, { label: "the bundled domains", ...options });
}
