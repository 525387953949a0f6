// An event stream of MCP messages on its way to the protocol's package: events whose numbers it would change are written
// anew with what keeps them, all others pass as they are.
import { TransformStream } from "node:stream/web";
import { keepInAnswers } from "./message-text.ts";

/** Lines end with LF, CR or CRLF; a CR at the end of what has arrived may be half of the last. */
const LINE_END = /\r\n|\n|\r(?!$)/;

export function keepInEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let held: string[] = [];
  let lines: string[] = [];
  /** Whole events only: nobody can use the part of one. */
  const takeEvents = (more: string): string => {
    held.push(more);
    if (!/[\r\n]/.test(more) && !held.at(-2)?.endsWith("\r")) return "";
    const arrived = held.join("").split(LINE_END);
    held = [arrived.pop() as string];
    const events: string[] = [];
    for (const line of arrived) {
      lines.push(line);
      if (line !== "") continue;
      events.push(keepInEvent(lines));
      lines = [];
    }
    return events.join("");
  };
  return new TransformStream({
    transform(chunk, controller) {
      const events = takeEvents(decoder.decode(chunk, { stream: true }));
      if (events !== "") controller.enqueue(encoder.encode(events));
    },
  });
}

/** An event's lines, with the empty one that ends it. */
function keepInEvent(lines: string[]): string {
  const isData = (line: string) => /^data(?::|$)/.test(line);
  const data = lines
    .filter(isData)
    .map((line) => line.replace(/^data:? ?/, ""))
    .join("\n");
  const kept = keepInAnswers(data);
  const written =
    kept === data ? lines : [...lines.filter((line) => line !== "" && !isData(line)), `data: ${kept}`, ""];
  return `${written.join("\n")}\n`;
}
