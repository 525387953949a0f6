// The table of a run as it was left: the way back to it keeps its filters, its order and its page.
import { pathTo } from "./address.ts";

const searches = new Map<string, string>();

export function rememberTable(run: string, search: string): void {
  searches.set(run, search);
}

export function pathToTable(run: string): string {
  const search = searches.get(run) ?? "";
  return pathTo("run", run, "rollouts") + (search ? `?${search}` : "");
}
