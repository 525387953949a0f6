// The tools of Starter as an MCP server over standard input and output, without any package: one JSON message a line.
// Everything that it writes to standard output belongs to the protocol; anything else goes to standard error.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const beside = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const books = beside("books.json");
const DUE = "2026-03-16"; // every loan is for two weeks
let loans = 0;

const handlers = {
  find_books({ title = "", author = "" }) {
    const has = (text, part) => text.toLowerCase().includes(part.toLowerCase());
    return { books: books.filter((book) => has(book.title, title) && has(book.author, author)) };
  },

  borrow_book({ book_id, confirm }) {
    const book = books.find((each) => each.book_id === book_id);
    if (!book) return { error: `There is no book ${book_id}.` };
    if (!book.available) return { error: `${book.title} is on loan until ${book.due_back}.` };
    if (!confirm) return { needs_confirmation: true, action_preview: `Lend ${book.title} until ${DUE}.` };
    Object.assign(book, { available: false, due_back: DUE });
    loans += 1;
    return { success: true, loan_id: `LOAN-${loans}`, due: DUE };
  },
};

const READ_ONLY = ["find_books"];
const tools = beside("tools.json").map(({ function: { name, description, parameters } }) => ({
  name,
  description,
  inputSchema: parameters,
  annotations: { readOnlyHint: READ_ONLY.includes(name) },
}));

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "Starter", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: args = {} }) => {
    const value = handlers[name]?.(args) ?? { error: `There is no tool ${name}.` };
    return { content: [{ type: "text", text: JSON.stringify(value) }], isError: "error" in value };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // a notification: nothing is answered
  const answer = methods[method]
    ? { result: methods[method](params ?? {}) }
    : { error: { code: -32601, message: `There is no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
