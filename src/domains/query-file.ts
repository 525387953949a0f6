// Queries read from files of JSON lines or of one JSON array, merged. Only ids and places stay in memory; a query's text
// is read when its rollout starts, so that a plan over a hundred thousand queries takes only megabytes.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import {
  contentHash,
  dropUndefined,
  extend,
  findUnnamed,
  isObject,
  type Json,
  type JsonObject,
  type Location,
  namesakeOf,
  type Query,
  type TaskInfo,
  UsageError,
  wellFormed,
  withExactNumbers,
  writeExact,
} from "../core/index.ts";
import { type Extent, isArrayFile, parseJsonAt, readElements, readExtents, readLines } from "../files/index.ts";
import { readOpening, readSetup, readUserTools, repairOpening } from "./read-opening.ts";

type Line = Extent & {
  id: string;
  file: string;
  line: number;
  /** where it begins in its line, in an array */
  column?: number;
  hash: string;
  bringsTools: boolean;
  hasReferences: boolean;
  /** each reference of its plan names a call before it */
  isNamed: boolean;
  hasParties: boolean;
  /** nobody asks anything in its opening */
  isEmpty: boolean;
  /** the id that the original system gives a query without one */
  originalId?: string;
  /** of the record without its id; computed when two lines have the same id */
  content?: string;
};

/** The same id with different content: kept under a new id, and worth telling the user. */
export type IdClash = { id: string; keptAs: string; first: Location; second: Location };

/** A query whose id is also that of a rollout of another query: `a#1` for rollout 1 of `a`. */
export type IdTwin = { id: string; place: Location; other: string; otherPlace: Location; rollout: number };

/** What all queries of a dataset have, before what is their own. */
export type QueryDefaults = Pick<Query, "setup" | "userTools">;

export class QueryFile {
  readonly #lines: Line[];
  readonly #dataset: QueryDefaults;
  #byId: Map<string, string> | undefined;
  readonly repeats: number;
  readonly clashes: IdClash[];

  constructor(lines: Line[], repeats: number, clashes: IdClash[], dataset: QueryDefaults = {}) {
    this.#lines = lines;
    this.#dataset = dataset;
    this.repeats = repeats;
    this.clashes = clashes;
  }

  get ids(): string[] {
    return this.#lines.map((line) => line.id);
  }

  /** The id of the query that a record with this id answers; undefined if there is none. */
  meantBy(id: string): string | undefined {
    this.#byId ??= new Map(
      this.#lines.flatMap((line) => [
        [line.originalId ?? line.id, line.id],
        [line.id, line.id],
      ]),
    );
    return this.#byId.get(id);
  }

  get twins(): IdTwin[] {
    const odd = this.#lines.filter(({ id }) => namesakeOf(id));
    const byId = new Map(odd.length > 0 ? this.#lines.map((line) => [line.id, line]) : []);
    return odd.flatMap((line) => {
      const { queryId, rollout } = namesakeOf(line.id) as NonNullable<ReturnType<typeof namesakeOf>>;
      const other = byId.get(queryId);
      if (!other) return [];
      return [{ id: line.id, place: locationOf(line), other: other.id, otherPlace: locationOf(other), rollout }];
    });
  }

  get size(): number {
    return this.#lines.length;
  }

  id(index: number): string {
    return (this.#lines[index] as Line).id;
  }

  /** The hash of the line's text, without reading it again. */
  hash(index: number): string {
    return (this.#lines[index] as Line).hash;
  }

  /** Whether the query has `tools` of its own, without reading it again. */
  bringsTools(index: number): boolean {
    return (this.#lines[index] as Line).bringsTools;
  }

  /** Whether the query may have references to results, without reading it again. */
  hasReferences(index: number): boolean {
    return (this.#lines[index] as Line).hasReferences;
  }

  /** Whether the plan's references name calls before them, without reading it again; false: to be looked at. */
  isNamed(index: number): boolean {
    return (this.#lines[index] as Line).isNamed;
  }

  /** Whether the query has a setup or tools of the user's, without reading it again. */
  hasParties(index: number): boolean {
    const { setup = [], userTools = [] } = this.#dataset;
    return setup.length > 0 || userTools.length > 0 || (this.#lines[index] as Line).hasParties;
  }

  /** Of a question set: every query asks something. */
  requireQuestions(): void {
    const empty = this.#lines.find(({ isEmpty }) => isEmpty);
    if (empty) throw new UsageError(EMPTY, locationOf(empty));
  }

  location(index: number): Location {
    return locationOf(this.#lines[index] as Line);
  }

  load(index: number): Query {
    const line = this.#lines[index] as Line;
    const text = readLine(line);
    const record = parseLine(text, line);
    const query = toQuery(record, locationOf(line));
    const isExact = query.tools || query.setup || query.taskInfo.plan;
    const exact = isExact ? withExactNumbers(record, text) : record;
    const { plan, answer, answers } = taskInfoOf(exact);
    const setup = exact.setup as Query["setup"];
    const { setup: before = [], userTools = [] } = this.#dataset;
    return extend(query, {
      taskInfo: plan ? { ...query.taskInfo, ...dropUndefined({ plan, answer, answers }) } : query.taskInfo,
      tools: query.tools && (exact.tools as JsonObject[]),
      setup: before.length > 0 || setup ? [...before, ...(setup ?? [])] : undefined,
      userTools: userTools.length > 0 || query.userTools ? [...userTools, ...(query.userTools ?? [])] : undefined,
      id: line.id,
      hash: line.hash,
    });
  }

  /** The line as it is in the file, under its merged id. */
  record(index: number): JsonObject {
    const line = this.#lines[index] as Line;
    return { ...parseLine(readLine(line), line), id: line.id };
  }
}

export function openQueryFiles(files: string[], dataset?: QueryDefaults): QueryFile {
  const lines: Line[] = [];
  const byId = new Map<string, Line>();
  const clashes: IdClash[] = [];
  let repeats = 0;
  for (const line of files.flatMap((file) => readQueryLines(file))) {
    const first = byId.get(line.id);
    if (first) {
      const namesakes = namesakesOf(line.id, byId);
      if (namesakes.some((known) => contentOf(known) === contentOf(line))) {
        repeats++;
        continue;
      }
      const keptAs = `${line.id}~${namesakes.length + 1}`;
      clashes.push({ id: line.id, keptAs, first: locationOf(first), second: locationOf(line) });
      line.id = keptAs;
    }
    byId.set(line.id, line);
    lines.push(line);
  }
  return new QueryFile(lines, repeats, clashes, dataset);
}

/** Every line that cannot be a query, not only the first. */
export function queryProblems(file: string): UsageError[] {
  const problems: UsageError[] = [];
  readQueryLines(file, (problem) => problems.push(problem));
  return problems;
}

function readQueryLines(file: string, onProblem?: (problem: UsageError) => void): Line[] {
  if (!existsSync(file)) throw new UsageError(`There is no query file ${file}`);
  const lines: Line[] = [];
  const isArray = isArrayFile(file);
  for (const piece of isArray ? readElements(file) : readLines(file)) {
    const { bytes, offset, length, number } = piece;
    const text = bytes.toString("utf8");
    if (text.trim() === "") continue;
    const location: Place = { file, line: number, ...("column" in piece && { column: piece.column }) };
    try {
      const record = parseLine(text, location);
      const { tools, setup, userTools, messages, taskInfo } = toQuery(record, { file, line: number });
      const hash = contentHash(isArray ? writeExact(withExactNumbers(record, text)) : text.trim());
      const hasReferences = text.includes("{{");
      const about = {
        bringsTools: tools !== undefined,
        hasReferences,
        isNamed: !hasReferences || areNamed(taskInfo),
        hasParties: (setup ?? userTools) !== undefined,
        isEmpty: (messages.findLast(({ role }) => role === "user")?.content ?? "").trim() === "",
      };
      lines.push(extend(extend(location, idsOf(record)), { offset, length, hash, ...about }));
    } catch (error) {
      if (!onProblem || !(error instanceof UsageError)) throw error;
      onProblem(error);
    }
  }
  return lines;
}

/** A plan that cannot be read is somebody else's to complain about. */
function areNamed({ plan = [] }: TaskInfo): boolean {
  try {
    return findUnnamed(plan) === undefined;
  } catch {
    return false;
  }
}

type Place = Pick<Line, "file" | "line" | "column">;

/** In an array, columns count from where its line begins. */
function parseLine(text: string, { column = 1, ...location }: Place): JsonObject {
  const record = parseJsonAt(column > 1 ? " ".repeat(column - 1) + text : text, location);
  if (!isObject(record))
    throw new UsageError("a query must be a JSON object", { file: location.file, line: location.line });
  return record as JsonObject;
}

function toQuery(record: JsonObject, location: Location): Omit<Query, "id" | "hash"> {
  const question = readQuestion(record, location);
  const messages: Json = record.messages ?? (question === undefined ? [] : [{ role: "user", content: question }]);
  const userSystemPrompt = typeof record.user_system_prompt === "string" ? record.user_system_prompt : "";
  const { opening, repaired } = repairOpening(readOpening(messages, location));
  if (opening.length === 0 && !userSystemPrompt) {
    throw new UsageError(
      'a query needs a "question" (or "query"), "messages" with an opening user message, or a "user_system_prompt"',
      location,
    );
  }
  if (record.task_info !== undefined && record.task_info !== null && !isObject(record.task_info)) {
    throw new UsageError('"task_info" must be an object', location);
  }
  return {
    messages: opening,
    ...(repaired === 0 ? {} : { repairedTexts: repaired }),
    setup: readSetup(record.setup, location),
    userTools: readUserTools(record.user_tools, location),
    userSystemPrompt: wellFormed(userSystemPrompt),
    ...(readSystemPrompt(record, location) ?? {}),
    taskInfo: taskInfoOf(record),
    tools: Array.isArray(record.tools) && record.tools.length > 0 ? (record.tools as JsonObject[]) : undefined,
  };
}

const EMPTY = "the question is empty";

/** The first that says anything; undefined if there is neither. */
function readQuestion({ query, question }: JsonObject, location: Location): string | undefined {
  const given = [query, question].filter((text) => text !== undefined && text !== null);
  if (given.some((text) => typeof text !== "string")) throw new UsageError("a question must be a text", location);
  const texts = given as string[];
  const asked = texts.find((text) => text.trim() !== "");
  if (asked === undefined && texts.length > 0) throw new UsageError(EMPTY, location);
  return asked;
}

function readSystemPrompt(
  { system_prompt: prompt }: JsonObject,
  location: Location,
): { systemPrompt: string } | undefined {
  if (prompt === undefined || prompt === null) return undefined;
  if (typeof prompt !== "string") throw new UsageError('"system_prompt" must be a text', location);
  return { systemPrompt: wellFormed(prompt) };
}

/** A plain question's answer is its reference: what a flawless agent says. Of several accepted ones, the first. */
function taskInfoOf({ task_info, answer, answers }: JsonObject): TaskInfo {
  const info = (task_info ?? {}) as TaskInfo;
  const known = [answer, ...[answers].flat()].find((one) => one !== undefined && one !== null && one !== "");
  if (known === undefined) return info;
  const say = Array.isArray(known) ? known.join(", ") : String(known);
  return {
    plan: [{ say }],
    ...info,
    ...(answer === undefined || answer === null || answer === "" ? {} : { answer }),
    ...(answers === undefined || answers === null ? {} : { answers }),
  };
}

function idsOf(record: JsonObject): Pick<Line, "id" | "originalId"> {
  if (typeof record.id === "string" && record.id.trim() !== "") return { id: record.id };
  if (typeof record.id === "number") return { id: String(record.id) };
  const first = Array.isArray(record.messages)
    ? record.messages.find((message) => isObject(message) && message.role === "user")
    : undefined;
  const asked = [record.query, record.question].find((own) => typeof own === "string" && own.trim() !== "");
  const text = isObject(first)
    ? first.content
    : (asked ?? record.query ?? record.question ?? record.user_system_prompt);
  const id = contentHash([text, record.tools ?? null]);
  return record.tools || typeof text !== "string" ? { id } : { id, originalId: md5(text) };
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** The query with this id and those kept under `<id>~2`, `<id>~3`, … */
function namesakesOf(id: string, byId: Map<string, Line>): Line[] {
  const namesakes: Line[] = [];
  for (let line = byId.get(id); line; line = byId.get(`${id}~${namesakes.length + 1}`)) namesakes.push(line);
  return namesakes;
}

function contentOf(line: Line): string {
  if (line.content === undefined) {
    const { id: _, ...content } = parseLine(readLine(line), line);
    line.content = contentHash(content);
  }
  return line.content;
}

function readLine(line: Line): string {
  const [bytes = ""] = readExtents(line.file, [line]);
  return bytes.toString("utf8");
}

function locationOf(line: Line): Location {
  return { file: line.file, line: line.line };
}
