// Every format by the name that a config gives it.
import { hermes } from "./hermes.ts";
import { react } from "./react.ts";

export const TEXT_FORMATS = { hermes, react };

export type TextFormatName = keyof typeof TEXT_FORMATS;

/** How tools, calls and results are written: by the provider, or by us as text for models without function calling. */
export type ToolFormat = "native" | TextFormatName;
export const TOOL_FORMATS = ["native", ...Object.keys(TEXT_FORMATS)] as [ToolFormat, ...ToolFormat[]];
