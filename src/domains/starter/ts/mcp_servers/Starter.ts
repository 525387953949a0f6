// The tools of Starter, as functions. Their schemas are in tool_lists/Starter.json, their rules in policies/Starter.md.
import type { DomainServer, Json, ToolContext } from "agent-rollout";

const TODAY = "2026-03-02";
const DUE = "2026-03-16"; // every loan is for two weeks

function find_books(context: ToolContext, { title, author }: { title?: string; author?: string }): Json {
  const has = (text: unknown, part = "") => String(text).toLowerCase().includes(part.toLowerCase());
  return { books: context.table("Book").where((book) => has(book.title, title) && has(book.author, author)) };
}

function borrow_book(context: ToolContext, args: { book_id: string; member_id: string; confirm?: boolean }): Json {
  const book = context.table("Book").get(args.book_id);
  if (!book) return { error: `There is no book ${args.book_id}.` };
  if (!book.available) return { error: `${book.title} is on loan until ${book.due_back}.` };
  if (!args.confirm) return { needs_confirmation: true, action_preview: `Lend ${book.title} until ${DUE}.` };
  const loan_id = context.newId("LOAN");
  context.table("Loan").insert({ loan_id, book_id: args.book_id, member_id: args.member_id, due: DUE });
  context.table("Book").update(args.book_id, { available: false, due_back: DUE });
  return { success: true, loan_id, due: DUE };
}

const server: DomainServer = {
  today: TODAY,
  reads: { find_books },
  writes: { borrow_book },
  rules: [{ id: "confirm-loans", rule: "confirm_before", tools: ["borrow_book"] }],
};

export default server;
