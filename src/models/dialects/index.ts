// Every dialect by its name.
import { anthropic } from "./anthropic.ts";
import { azure } from "./azure.ts";
import { bedrock } from "./bedrock.ts";
import { cohere } from "./cohere.ts";
import type { Dialect } from "./dialect.ts";
import { google } from "./google.ts";
import { mistral } from "./mistral.ts";
import { openai } from "./openai.ts";
import { responses } from "./responses.ts";

const DIALECTS: readonly Dialect[] = [openai, responses, anthropic, google, bedrock, azure, mistral, cohere];

/** `scripted` is also a name, for models without a wire. */
export const DIALECT_NAMES: readonly string[] = [...DIALECTS.map(({ name }) => name), "scripted"];

export function findDialect(name: string): Dialect {
  const dialect = DIALECTS.find((candidate) => candidate.name === name);
  if (!dialect) throw new Error(`there is no wire ${name}`);
  return dialect;
}
