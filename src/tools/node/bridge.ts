// Runs a dataset's TypeScript or JavaScript servers in a process of their own, for datasets that ask for it. It speaks
// with its parent as Python's bridge does (see ../python/bridge.py): requests on descriptor 4, sealed replies on 5, one at
// a time. Not part of the program itself: the pool starts it with Node.
import { Socket } from "node:net";
import { type JsonObject, messageOf, RolloutError, type ToolSpec, UsageError } from "../../core/index.ts";
import { sealOf } from "../children/child.ts";
import type { DomainServer } from "../domain-server.ts";
import { DomainSession } from "../domain-session.ts";
import { loadFunctions } from "../functions/load-functions.ts";
import { loadDefaultExport } from "../load-module.ts";
import { readTables } from "../read-tables.ts";
import { requireServer } from "../server-shape.ts";
import { type StrayWatch, watchStrays } from "../stray-errors.ts";
import { Database } from "../tables.ts";

type ServerFile = { name: string; file: string; functions?: boolean };
type LoadedServer = { server: DomainServer; tools?: ToolSpec[] };
type Opening = { session: string; seed: number; servers: ServerFile[]; tables: string[] };
type Call = { session: string; server: number; tool: string; arguments: string; number: number };

const modules = new Map<string, Promise<LoadedServer>>();
const watched = new Map<string, StrayWatch>();
const sessions = new Map<string, { session: DomainSession; servers: string[] }>();

const operations: { [op: string]: (request: never) => Promise<object> } = {
  /** what the parent has to know of servers whose code it never runs */
  describe: async ({ servers }: { servers: ServerFile[] }) => {
    const loaded = await loadAll(servers);
    const shapes = [...loaded.values()].map(({ server: { reads, writes, rules = [], volatile = {} }, tools }) => ({
      ...{ reads: Object.keys(reads), writes: Object.keys(writes), rules, volatile, tools },
    }));
    return { shapes };
  },
  open: async ({ session, seed, servers, tables }: Opening) => {
    const loaded = [...(await loadAll(servers))].map(([name, { server }]) => [name, server] as const);
    const options = { servers: new Map(loaded), database: new Database(readTables(tables)) };
    sessions.set(session, { session: new DomainSession(options, seed), servers: servers.map(({ name }) => name) });
    return {};
  },
  call: async ({ session: id, server, tool, arguments: text, number }: Call) => {
    const open = sessions.get(id);
    if (!open) return { failed: "the session is closed" };
    const args = JSON.parse(text) as JsonObject;
    return { ...(await open.session.call({ server: open.servers[server] as string, tool, args, number })) };
  },
  state: async ({ session }: { session: string }) => {
    const open = sessions.get(session);
    return open ? { changes: JSON.stringify(open.session.state()) } : { failed: "the session is closed" };
  },
  close: async ({ session }: { session: string }) => {
    sessions.get(session)?.session.close();
    sessions.delete(session);
    return {};
  },
};

async function loadAll(servers: ServerFile[]): Promise<Map<string, LoadedServer>> {
  const loaded = new Map<string, LoadedServer>();
  for (const { name, file, functions } of servers) {
    if (!watched.has(file))
      watched.set(
        file,
        watchStrays([file], (message) => process.stderr.write(`${message}\n`)),
      );
    const module = modules.get(file) ?? (functions ? loadFunctions(file) : loadServer(file));
    modules.set(file, module);
    loaded.set(name, await module);
  }
  return loaded;
}

async function loadServer(file: string): Promise<LoadedServer> {
  return { server: requireServer(await loadDefaultExport(file), file) };
}

async function perform({ op, ...request }: JsonObject): Promise<object> {
  try {
    return await (operations[op as string] as (request: JsonObject) => Promise<object>)(request);
  } catch (error) {
    if (error instanceof UsageError) return { unusable: error.reason, ...error.location };
    const cause = error instanceof RolloutError ? error.cause : error;
    if (op === "state" && !(error instanceof RolloutError)) return { failed: messageOf(error) };
    return { broken: messageOf(error), stack: cause instanceof Error ? (cause.stack ?? null) : messageOf(cause) };
  }
}

async function main(): Promise<void> {
  const [requests, replies] = [4, 5].map((fd) => new Socket({ fd, readable: fd === 4, writable: fd === 5 }));
  let key = "";
  for await (const line of linesOf(requests as Socket)) {
    const { n: number, ...request } = JSON.parse(line) as JsonObject & { n: number };
    if (typeof request.key === "string") key = request.key;
    const begun = performance.now();
    const answer = JSON.stringify("key" in request ? {} : await perform(request));
    const payload = `${Math.round((performance.now() - begun) * 1000)} ${answer}`;
    const reply = `\n${number} ${sealOf(key, number, payload)} ${payload}\n`;
    await new Promise((done) => (replies as Socket).write(reply, done)); // before the next call may block everything
  }
  process.exit(0);
}

async function* linesOf(input: Socket): AsyncGenerator<string, void, void> {
  let partial: Buffer[] = [];
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...partial, chunk.subarray(start, end)]).toString("utf8");
      partial = [];
      start = end + 1;
    }
    if (start < chunk.length) partial.push(chunk.subarray(start));
  }
}

void main();
