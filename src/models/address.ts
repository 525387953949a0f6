// Where a wire's path goes in an api_base: before the query, and once, whether or not the base already ends in it.
import { UsageError } from "../core/index.ts";

/** Ends of addresses that people copy along, and that another wire replaces by its own. */
const WIRE_ENDS = ["/chat/completions", "/responses"];

export function joinAddress(base: string, path: string): URL {
  const url = readAddress(base);
  const before = trimmedPath(url);
  const end = [path, ...WIRE_ENDS].find((each) => before.endsWith(each)) ?? "";
  url.pathname = before.slice(0, before.length - end.length) + path;
  return url;
}

export function readAddress(base: string): URL {
  if (!URL.canParse(base)) throw new UsageError(`api_base "${base}" is not a URL`);
  return new URL(base);
}

export function trimmedPath({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}
