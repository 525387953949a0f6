export { AppendFile, type AppendOptions, type SyncMode } from "./append-file.ts";
export {
  describeShortage,
  descriptorLimit,
  isOutOfDescriptors,
  OUT_OF_DESCRIPTORS,
  withDescriptors,
} from "./descriptors.ts";
export { ExtentReader, readExtents } from "./extent-reader.ts";
export { fileName } from "./file-name.ts";
export { FollowedFile } from "./followed-file.ts";
export { isArrayFile, readElements } from "./json-elements.ts";
export { LineWriter } from "./line-writer.ts";
export { type Extent, escapeLineEnds, jsonLine, type Line, readLines, scanLines } from "./lines.ts";
export { type Holder, Lock } from "./lock.ts";
export { Places } from "./places.ts";
export { processStart } from "./process-start.ts";
export { parseJsonAt, placeIn, readExactJson, readJson } from "./read-json.ts";
export { readText } from "./read-text.ts";
export { makeTempFolder, removeDeadFolders } from "./temp-folder.ts";
export { rewriteFile, syncFolder, writeAll, writeWhole } from "./write-whole.ts";
