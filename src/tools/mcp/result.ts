// What an MCP tool answered, as the text that the model sees. Text stays as it came; what is not text becomes a short,
// visible placeholder, and the whole answer is then kept as raw JSON.
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { parseJson, type ToolResult, writeExact } from "../../core/index.ts";
import { keptValue } from "./message-text.ts";

export function fromMcpResult(parsed: CallToolResult): ToolResult {
  const answer = keptValue(parsed, parsed);
  const parts = answer.content ?? [];
  const structured = parts.length === 0 && answer.structuredContent !== undefined;
  return {
    content: structured ? writeExact(answer.structuredContent) : parts.map(textOf).join("\n"),
    isError: answer.isError === true,
    fault: answer.isError ? "tool_error" : undefined,
    raw: parts.some((part) => part.type !== "text") ? writeExact(answer) : undefined,
  };
}

/** A server's state: its text if that is JSON, else what is structured (a list may come as one text for each item). */
export function fromStateResult(answer: CallToolResult): ToolResult {
  const result = fromMcpResult(answer);
  const isText = answer.structuredContent === undefined || result.isError || parseJson(result.content) !== undefined;
  return isText ? result : { content: writeExact(answer.structuredContent), isError: false };
}

/** An embedded text is content that the tool meant to give, so it follows its placeholder. */
function textOf(part: ContentBlock): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type} ${part.mimeType} ${sizeOf(part.data)}]`;
    case "resource_link":
      return `[resource link ${part.uri}${part.mimeType ? ` ${part.mimeType}` : ""}]`;
    case "resource": {
      const { resource } = part;
      const label = `resource ${resource.uri}${resource.mimeType ? ` ${resource.mimeType}` : ""}`;
      return "text" in resource ? `[${label}]\n${resource.text}` : `[${label} ${sizeOf(resource.blob)}]`;
    }
    default:
      return `[${(part as { type: string }).type}]`;
  }
}

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
  return bytes < 1024 ? `${bytes} B` : `${Math.round(bytes / 1024)} KB`;
}
