// Every format by the name that a config gives it.
import type { ToolFormat } from "../resolved.ts";
import type { TextFormat } from "./format.ts";
import { hermes } from "./hermes.ts";
import { react } from "./react.ts";

export type TextFormatName = Exclude<ToolFormat, "native">;

export const TEXT_FORMATS: { [name in TextFormatName]: TextFormat } = { hermes, react };
