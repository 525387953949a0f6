// The domain that is played: a library with two tools, and readers who ask for a book and then for more time with it.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TITLES = ["Dune", "Emma", "Ulysses", "Beloved", "Persuasion", "Middlemarch", "Dracula", "Walden"];

const SERVER = `
export default {
  today: "2026-02-02",
  reads: { find_book: (_context, { title }) => ({ loan_id: "L-" + String(title).length, title }) },
  writes: { renew_loan: (_context, { loan_id }) => ({ loan_id, renewed: true }) },
};
`;

const TOOLS = [
  tool("find_book", "title", "Finds a book by its title."),
  tool("renew_loan", "loan_id", "Renews a loan."),
];

/** One call as JSON: asked for as the form of a reply, it makes the smallest model write its calls as text. */
export const CALL_SCHEMA = {
  type: "object",
  properties: {
    name: { enum: ["find_book", "renew_loan"] },
    arguments: {
      type: "object",
      properties: { title: { type: "string", maxLength: 16 }, loan_id: { type: "string", maxLength: 8 } },
      required: ["title"],
      additionalProperties: false,
    },
  },
  required: ["name", "arguments"],
  additionalProperties: false,
};

/** The same in text formats, as grammars: a word or two, then one call or two. */
export const TEXT_GRAMMARS = {
  hermes: String.raw`root ::= [A-Z] [a-z ]{3,12} ".\n" call ("\n" call)?
call ::= "<tool_call>\n{\"name\": \"find_book\", \"arguments\": {\"title\": \"" [A-Za-z ]{1,12} "\"}}\n</tool_call>"`,
  react: String.raw`root ::= "Thought: " [a-z ]{5,30} "\n" (call | "Final Answer: " [A-Z] [a-z ]{5,40} ".")
call ::= "Action: find_book\nAction Input: {\"title\": \"" [A-Za-z ]{1,12} "\"}"`,
};

export function writeLibrary(folder, count) {
  const queries = Array.from({ length: count }, (_, index) => query(index, TITLES[index % TITLES.length]));
  const files = {
    "mcp_servers/Library.mjs": SERVER,
    "tool_lists/Library.json": JSON.stringify(TOOLS),
    "policies/Library.md": "You help the readers of a library. Answer in one short sentence.\n",
    "queries/Library.jsonl": queries.map((each) => `${JSON.stringify(each)}\n`).join(""),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function query(index, title) {
  const calls = [{ name: "find_book", arguments: { title } }];
  return {
    id: `reader-${index}`,
    messages: [{ role: "user", content: `Find the book ${title}.` }],
    user_system_prompt: `You are a reader. You want to keep ${title} for longer. Say it in one short sentence.`,
    task_info: {
      plan: [
        { steps: [{ calls }], say: "Here it is." },
        { user: `Renew my loan of ${title}.`, say: "Renewed." },
        { user: "Thanks. ###STOP###" },
      ],
    },
  };
}

function tool(name, parameter, description) {
  const parameters = { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter] };
  return { type: "function", function: { name, description, parameters } };
}
