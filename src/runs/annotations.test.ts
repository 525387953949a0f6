import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { AnnotationBook, judgesOf, tagsOf, wordOf } from "./annotation-book.ts";
import { ANNOTATIONS_FILE, type AnnotationRecord, appendAnnotation } from "./annotations.ts";

const AT = "2026-01-01T00:00:00.000Z";

function folder(): { path: string; file: string } {
  const path = mkdtempSync(join(tmpdir(), "rollout-annotations-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return { path, file: join(path, ANNOTATIONS_FILE) };
}

function about(queryId: string, more: Partial<AnnotationRecord> = {}): AnnotationRecord {
  return { id: queryId, query_id: queryId, rollout: 0, dataset: "Desk", by: "ann", at: AT, ...more };
}

const keyOf = (queryId: string) => JSON.stringify(["Desk", queryId, 0]);

test("the last word of each annotator about a dialogue, or about one message of it, counts", () => {
  const { path } = folder();
  appendAnnotation(path, about("q1", { verdict: "accept", tags: ["polite"] }));
  appendAnnotation(path, about("q1", { verdict: "reject", note: "a wrong date" }));
  appendAnnotation(path, about("q1", { by: "bob", verdict: "reject" }));
  appendAnnotation(path, about("q1", { message: 3, verdict: "unsure", tags: ["odd"] }));
  const book = new AnnotationBook(path);
  expect(book.read(keyOf("q1"))).toEqual([
    about("q1", { verdict: "reject", note: "a wrong date" }),
    about("q1", { by: "bob", verdict: "reject" }),
    about("q1", { message: 3, verdict: "unsure", tags: ["odd"] }),
  ]);
  const remarks = book.remarksOn(keyOf("q1"));
  expect([wordOf(remarks), tagsOf(remarks), judgesOf(remarks)]).toEqual(["reject", ["odd"], ["ann", "bob"]]);
  expect(new AnnotationBook(path, ["bob"]).read(keyOf("q1"))).toEqual([about("q1", { by: "bob", verdict: "reject" })]);
});

test("a line that says nothing takes back what its annotator said there, and nobody else's words", () => {
  const { path } = folder();
  appendAnnotation(path, about("q1", { verdict: "accept" }));
  appendAnnotation(path, about("q1", { by: "bob", verdict: "reject" }));
  const book = new AnnotationBook(path);
  expect(wordOf(book.remarksOn(keyOf("q1")))).toBe("mixed");
  const changed: string[] = [];
  appendAnnotation(path, about("q1"));
  changed.push(...book.follow());
  expect(wordOf(book.remarksOn(keyOf("q1")))).toBe("reject");
  appendAnnotation(path, about("q1", { by: "bob" }));
  changed.push(...book.follow());
  expect(book.remarks.size).toBe(0);
  expect(wordOf(book.remarksOn(keyOf("q1")))).toBe("none");
  expect(changed).toEqual([keyOf("q1"), keyOf("q1")]);
});

test("wherever a crash tore the last line, what came before and what is added after it is read", () => {
  fc.assert(
    fc.property(fc.nat(400), fc.string({ unit: "binary", maxLength: 40 }), (cut, note) => {
      const path = mkdtempSync(join(tmpdir(), "rollout-annotations-"));
      const file = join(path, ANNOTATIONS_FILE);
      appendAnnotation(path, about("first", { verdict: "accept" }));
      const before = readFileSync(file).length;
      appendAnnotation(path, about("torn", { verdict: "reject", note: `x${note}` }));
      const whole = readFileSync(file).length;
      const end = Math.min(before + cut, whole - 1);
      truncateSync(file, end);
      appendAnnotation(path, about("after", { verdict: "unsure", note: `x${note}` }));
      const book = new AnnotationBook(path);
      // the whole line without its end is whole again
      const torn = end === whole - 1 ? [keyOf("torn")] : [];
      expect([...book.remarks.keys()]).toEqual([keyOf("first"), ...torn, keyOf("after")]);
      expect(book.read(keyOf("after"))[0]?.note).toBe(JSON.parse(JSON.stringify(`x${note}`)));
      if (end > before && end < whole - 1) expect(book.damage).toMatch(/1 damaged line left out \(line 2 /);
      else expect(book.damage).toBeUndefined();
      rmSync(path, { recursive: true });
    }),
    { numRuns: 60 },
  );
});

test("a torn tail is not read until it is whole, and damaged lines are named and left out", () => {
  const { path, file } = folder();
  const good = JSON.stringify(about("q1", { verdict: "accept" }));
  const lines = [
    good,
    "not json",
    "[1]",
    JSON.stringify({ verdict: "accept" }),
    JSON.stringify({ ...about("q2"), id: "other" }),
    JSON.stringify({ ...about("q2"), verdict: "perhaps" }),
    JSON.stringify({ ...about("q2"), tags: "polite" }),
    JSON.stringify({ ...about("q2"), message: -1 }),
    JSON.stringify({ ...about("q2"), note: {} }),
    "",
    `${good}\r`,
  ];
  writeFileSync(file, `\ufeff${lines.join("\n")}\n${good.slice(0, 30)}`);
  const book = new AnnotationBook(path);
  expect([...book.remarks.keys()]).toEqual([keyOf("q1")]);
  expect(book.damage).toContain(
    "8 damaged lines left out (line 2 is not valid JSON; line 3 is not a JSON object; line 4",
  );
  appendFileSync(file, `${good.slice(30)}\n${JSON.stringify(about("q3", { verdict: "unsure" }))}\n`);
  for (const _ of book.follow());
  expect([...book.remarks.keys()]).toEqual([keyOf("q1"), keyOf("q3")]);
});

test("a file that was replaced or removed is read anew", () => {
  const { path, file } = folder();
  appendAnnotation(path, about("q1", { verdict: "accept" }));
  const book = new AnnotationBook(path);
  rmSync(file);
  const changed: string[] = [];
  changed.push(...book.follow());
  expect([changed, book.remarks.size]).toEqual([[keyOf("q1")], 0]);
  appendAnnotation(path, about("q2", { verdict: "accept" }));
  for (const _ of book.follow());
  expect([...book.remarks.keys()]).toEqual([keyOf("q2")]);
});

test("neither a link, a pipe nor a folder in its place is written to, and the message says so", () => {
  const { path, file } = folder();
  const outside = join(path, "outside");
  writeFileSync(outside, "mine\n");
  symlinkSync(outside, file);
  expect(() => appendAnnotation(path, about("q1"))).toThrow(/is not saved: cannot write to .*annotations\.jsonl/);
  expect(readFileSync(outside, "utf8")).toBe("mine\n");
  rmSync(file);
  execFileSync("sh", ["-c", 'mkfifo "$0"', file]);
  expect(() => appendAnnotation(path, about("q1"))).toThrow(/not a plain file/);
  rmSync(file);
  expect(() => appendAnnotation(join(path, "gone"), about("q1"))).toThrow(/is not saved.*ENOENT/);
});
