// A small domain to start from, written into a new folder: two tools, a table, a policy, three queries with plans. The
// files of `starter/` are the originals; `Starter` in them stands for the domain's name.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../core/index.ts";

export const STARTER_LANGUAGES = ["ts", "py", "mcp"] as const;
export type StarterLanguage = (typeof STARTER_LANGUAGES)[number];
export type Starter = { name: string; files: string[] };

const ORIGINALS = fileURLToPath(new URL("./starter/", import.meta.url));

export function writeStarter(folder: string, language: StarterLanguage): Starter {
  const name = domainName(basename(folder));
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is there already, and not empty: choose another name`);
  const here = isAbsolute(folder) ? folder : `./${folder}`;
  const files = Object.entries(sourcesOf(language)).map(([target, source]) => {
    const path = join(folder, target.replaceAll("Starter", name));
    const text = readFileSync(join(ORIGINALS, source), "utf8");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, adapt(text, source, language).replaceAll("Starter", name).replaceAll("FOLDER", here));
    return path;
  });
  return { name, files };
}

/** PascalCase without underscores, as domains are named: `campus_library` is CampusLibrary. */
function domainName(written: string): string {
  const words = written.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const name = words.map((word) => `${(word[0] as string).toUpperCase()}${word.slice(1)}`).join("");
  if (!/^[A-Z]/.test(name))
    throw new UsageError(`"${written}" cannot name a domain: use letters and digits, such as CampusLibrary`);
  return name;
}

/** Which original becomes which file. */
function sourcesOf(language: StarterLanguage): { [target: string]: string } {
  if (language === "mcp")
    return {
      "run.yml": "mcp/run.yml",
      "server.mjs": "mcp/server.mjs",
      "tools.json": "shared/tools.json",
      "books.json": "shared/books.json",
      "policy.md": "shared/policy.md",
      "queries.jsonl": "shared/queries.jsonl",
    };
  return {
    [`mcp_servers/Starter.${language}`]: `${language}/mcp_servers/Starter.${language}`,
    "tool_lists/Starter.json": "shared/tools.json",
    "policies/Starter.md": "shared/policy.md",
    "queries/Starter.jsonl": "shared/queries.jsonl",
    "database/outputs/entities/Book.json": "shared/books.json",
  };
}

/** The tables of an MCP server are its own, so no state can be expected of them; nor are a prompt's markers left out. */
function adapt(text: string, source: string, language: StarterLanguage): string {
  if (language !== "mcp") return text;
  if (source.endsWith("policy.md")) return text.replace(/<!-- [A-Z_]+(: \w+)? -->\n/g, "");
  if (!source.endsWith("queries.jsonl")) return text;
  const lines = text.trim().split("\n");
  return lines
    .map((line) => {
      const query = JSON.parse(line);
      delete query.task_info.expected_state;
      return `${JSON.stringify(query)}\n`;
    })
    .join("");
}
