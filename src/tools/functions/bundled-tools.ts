// The tools that come along: `calculator`, and over a corpus `search` and `visit`. They only look things up, so that the
// same call has the same answer for everybody.
import type { ToolSpec } from "../../core/index.ts";
import type { Corpus } from "../corpus/corpus.ts";
import type { DomainServer } from "../domain-server.ts";
import { calculate } from "./calculate.ts";

export const BUNDLED_TOOLS = ["calculator", "search", "visit"] as const;
export type BundledTool = (typeof BUNDLED_TOOLS)[number];

type Source = { tools: ToolSpec[]; server: DomainServer };

const MAX_RESULTS = 20;

export function calculatorServer(): Source {
  const spec = {
    name: "calculator",
    description:
      "Calculates an arithmetic expression, such as (3 + 4.5) * 2^10 or sqrt(2) / 3. Knows + - * / // % ^ and !, pi and e, and functions such as sqrt, log, round, min and max.",
    parameters: objectOf({ expression: { type: "string", description: "the expression" } }, ["expression"]),
    readOnly: true,
  };
  const calculator = (_: unknown, { expression }: { expression: string }) => {
    try {
      return { expression, result: calculate(expression) };
    } catch (error) {
      return { error: `This cannot be calculated: ${(error as Error).message}` };
    }
  };
  return { tools: [spec], server: { today: "1970-01-01", reads: { calculator }, writes: {} } };
}

export function corpusServer(corpus: Corpus, wanted: readonly string[]): Source {
  const search = {
    name: "search",
    description: "Searches the documents by words and returns the best ones, each with its id and a snippet.",
    parameters: objectOf(
      {
        query: { type: "string", description: "words to search for" },
        limit: { type: "integer", minimum: 1, maximum: MAX_RESULTS, default: 5, description: "how many results" },
      },
      ["query"],
    ),
    readOnly: true,
  };
  const visit = {
    name: "visit",
    description: "Reads one page of a document that a search found.",
    parameters: objectOf(
      {
        document: { type: "string", description: "id, url or title of a search result" },
        page: { type: "integer", minimum: 1, default: 1, description: "number of the page" },
      },
      ["document"],
    ),
    readOnly: true,
  };
  const reads = {
    search: async (_: unknown, { query, limit = 5 }: { query: string; limit?: number }) => {
      const results = await corpus.search(query, limit);
      return results.length > 0 ? { results } : { results, note: "No document has any of these words." };
    },
    visit: async (_: unknown, { document, page = 1 }: { document: string; page?: number }) => {
      const visited = await corpus.visit(document, page);
      return typeof visited === "string" ? { error: visited } : visited;
    },
  };
  const tools = [search, visit].filter(({ name }) => wanted.includes(name));
  return { tools, server: { today: "1970-01-01", reads, writes: {} } };
}

function objectOf(properties: ToolSpec["parameters"], required: string[]): ToolSpec["parameters"] {
  return { type: "object", properties, required, additionalProperties: false };
}
