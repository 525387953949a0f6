// A local corpus that is searched by words and read by page. Its index is made when it is first searched, once for all
// rollouts; the texts stay in their files.
import { readFileSync } from "node:fs";
import { didYouMean } from "../../core/index.ts";
import { readExtents } from "../../files/index.ts";
import { Bm25 } from "./bm25.ts";
import { type CorpusFile, type CorpusFiles, findCorpusFiles, shorten } from "./corpus-files.ts";
import { type Document, isJsonLines, parseDocument, readDocuments, toDocument } from "./documents.ts";
import { findSnippet, splitPages } from "./pages.ts";
import { fold, splitWords } from "./tokens.ts";

export type SearchResult = {
  id: string;
  title: string;
  url?: string;
  page: number;
  pages: number;
  snippet: string;
};

export type VisitedPage = { id: string; title: string; url?: string; page: number; pages: number; text: string };

type Place = { file: CorpusFile; offset: number; length: number; id: string; firstPage: number };

/** Milliseconds after which people are told what they are waiting for. */
const PATIENCE = 2000;
/** Milliseconds of indexing between two looks at everything else. */
const SLICE = 30;

export class Corpus {
  readonly path: string;
  readonly hash: string;
  readonly #files: CorpusFile[];
  readonly #onNotice: (message: string) => void;
  readonly #places: Place[] = [];
  readonly #byName = new Map<string, number>();
  /** page → its document */
  readonly #documents: number[] = [];
  readonly #index = new Bm25();
  #ready: Promise<void> | undefined;

  private constructor(path: string, { files, hash }: CorpusFiles, onNotice: (message: string) => void) {
    this.path = path;
    this.hash = hash;
    this.#files = files;
    this.#onNotice = onNotice;
  }

  /** Throws a UsageError if there is nothing to search. */
  static async open(path: string, onNotice: (message: string) => void): Promise<Corpus> {
    const found = await findCorpusFiles(path);
    for (const note of found.notes) onNotice(note);
    return new Corpus(path, found, onNotice);
  }

  /** The best documents, each with its best page. */
  async search(query: string, limit: number): Promise<SearchResult[]> {
    await this.#indexed();
    const words = splitWords(query);
    const best = new Map<number, number>();
    // a long document may have all of the best pages
    for (const depth of [10, 100]) {
      if (best.size === limit) break;
      for (const { text: page } of this.#index.search(words, limit * depth)) {
        const document = this.#documents[page] as number;
        if (!best.has(document) && best.size < limit) best.set(document, page);
      }
    }
    const wanted = new Set(words);
    return [...best].map(([document, page]) => {
      const { id, firstPage } = this.#places[document] as Place;
      const { title, url, text } = this.#read(document);
      const pages = splitPages(text);
      const snippet = findSnippet(pages[page - firstPage] ?? "", wanted);
      return { id, title, ...(url !== undefined && { url }), page: page - firstPage + 1, pages: pages.length, snippet };
    });
  }

  /** By id, url or title; or a sentence that says why not. */
  async visit(name: string, page: number): Promise<VisitedPage | string> {
    await this.#indexed();
    const document = this.#byName.get(name) ?? this.#byName.get(fold(name.trim()));
    if (document === undefined) {
      const known = this.#places.length > 20_000 ? [] : this.#places.map(({ id }) => id);
      return `There is no document "${name}"${didYouMean(name, known) || "."} Use the id of a search result.`;
    }
    const { id } = this.#places[document] as Place;
    const { title, url, text } = this.#read(document);
    const pages = splitPages(text);
    if (page > pages.length)
      return `"${id}" has ${pages.length} page${pages.length === 1 ? "" : "s"}, no page ${page}.`;
    const shown = (pages[page - 1] as string).trim();
    return { id, title, ...(url !== undefined && { url }), page, pages: pages.length, text: shown };
  }

  #indexed(): Promise<void> {
    this.#ready ??= this.#makeIndex();
    return this.#ready;
  }

  async #makeIndex(): Promise<void> {
    const start = performance.now();
    let [slice, isTold] = [start, false];
    const broken: string[] = [];
    const odd = new Set<string>();
    for (const file of this.#files) {
      for (const { offset, length, line, document } of this.#documentsOf(file)) {
        if (typeof document === "string") broken.push(`${file.name}:${line} ${document}`);
        else this.#add(file, { offset, length, line, document });
        if (typeof document !== "string" && document.text.includes("\ufffd")) odd.add(file.name);
        const now = performance.now();
        if (now - slice < SLICE) continue;
        await new Promise((resolve) => setImmediate(resolve));
        slice = performance.now();
        if (isTold || now - start < PATIENCE) continue;
        isTold = true;
        this.#onNotice(`Corpus ${this.path} is being indexed: ${this.#places.length} documents so far`);
      }
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (isTold) this.#onNotice(`Corpus ${this.path}: ${this.#places.length} documents indexed in ${seconds} s`);
    if (odd.size > 0) this.#onNotice(`Corpus ${this.path}: not all of it is UTF-8: ${shorten([...odd])}`);
    if (broken.length > 0) this.#onNotice(`Corpus ${this.path}: left out: ${shorten(broken)}`);
  }

  *#documentsOf(file: CorpusFile): ReturnType<typeof readDocuments> {
    if (isJsonLines(file.path)) return yield* readDocuments(file.path);
    const bytes = readFileSync(file.path);
    yield { offset: 0, length: bytes.length, document: toDocument(file.path, bytes) };
  }

  #add(file: CorpusFile, found: { offset: number; length: number; line?: number; document: Document }): void {
    const { offset, length, line, document } = found;
    const own = document.id ?? (line === undefined ? file.name : `${file.name}:${line}`);
    let id = own;
    for (let n = 2; this.#byName.has(id); n++) id = `${own}#${n}`;
    const number = this.#places.length;
    this.#places.push({ file, offset, length, id, firstPage: this.#documents.length });
    this.#byName.set(id, number);
    for (const name of [id, document.url, document.title]) {
      const folded = name && fold(name.trim());
      if (folded && !this.#byName.has(folded)) this.#byName.set(folded, number);
    }
    const title = splitWords(document.title);
    for (const page of splitPages(document.text)) {
      this.#documents.push(number);
      this.#index.add([...title, ...splitWords(page)]);
    }
  }

  #read(document: number): Document {
    const { file, offset, length, id } = this.#places[document] as Place;
    const [bytes = Buffer.alloc(0)] = readExtents(file.path, [{ offset, length }]);
    const read = isJsonLines(file.path) ? parseDocument(bytes) : toDocument(file.path, bytes);
    if (typeof read === "string") throw new Error(`${file.name} changed since it was indexed`);
    return { ...read, title: read.title || id };
  }
}
