import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { fileName } from "./file-name.ts";
import { jsonLine, scanLines } from "./lines.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "lines.jsonl");

function scan(bytes: string | Buffer) {
  writeFileSync(file, bytes);
  const lines: { text: string; offset: number; number: number }[] = [];
  const end = scanLines(file, (line) => lines.push({ ...line, text: line.bytes.toString("utf8") }));
  return { lines: lines.map(({ text, offset, number }) => ({ text, offset, number })), end };
}

describe("a JSON line", () => {
  test("is one line for every reader, and the same value again", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), text, fc.dictionary(text, text)), (value) => {
        const line = jsonLine(value);
        expect(line.slice(0, -1)).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
        expect(line.endsWith("\n")).toBe(true);
        expect(Buffer.from(line).toString()).toBe(line);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("escapes what some readers take for a line end, NUL and half characters", () => {
    expect(jsonLine("a\u2028b\u2029c\u0085d\u0000e\ud800")).toBe(
      `${String.raw`"a\u2028b\u2029c\u0085d\u0000e\ud800"`}\n`,
    );
  });
});

describe("a scan", () => {
  test("gives each complete line with its place and number, and stops before a torn tail", () => {
    expect(scan("one\n\nthree é\ntor")).toEqual({
      lines: [
        { text: "one", offset: 0, number: 1 },
        { text: "", offset: 4, number: 2 },
        { text: "three é", offset: 5, number: 3 },
      ],
      end: 14,
    });
  });

  test("of a missing or empty file gives nothing", () => {
    expect(scanLines(join(folder, "nowhere"), () => expect.unreachable())).toBe(0);
    expect(scan("")).toEqual({ lines: [], end: 0 });
  });

  test("of any bytes finds the same lines as splitting them", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(299)), (bytes, newlines) => {
        for (const at of newlines) if (at < bytes.length) bytes[at] = 10;
        const buffer = Buffer.from(bytes);
        const { lines, end } = scan(buffer);
        expect(end).toBe(buffer.lastIndexOf(10) + 1);
        expect(lines.map(({ text }) => text)).toEqual(
          buffer
            .toString("latin1")
            .split("\n")
            .slice(0, -1)
            .map((text) => Buffer.from(text, "latin1").toString("utf8")),
        );
      }),
    );
  });

  test("reads on where a line is longer than its buffer, and where a buffer ends inside one", () => {
    const chunk = 4 << 20;
    const lengths = [chunk - 1, 1, chunk, 0, 3 * chunk + 7, chunk - 2, 5];
    const text = `${lengths.map((length, index) => String(index).repeat(length)).join("\n")}\n`;
    const { lines, end } = scan(`${text}torn`);
    expect(lines.map(({ text: line }) => line.length)).toEqual(lengths);
    expect(lines.every(({ text: line }, index) => line === "" || line[0] === String(index))).toBe(true);
    expect(end).toBe(text.length);
    expect(lines.map(({ offset }) => offset)).toEqual(
      lengths.map((_, index) => lengths.slice(0, index).reduce((sum, length) => sum + length + 1, 0)),
    );
  });
});

describe("a file name", () => {
  test.each([
    ["StudentPortal_Library", "StudentPortal_Library"],
    ["..", "%2E."],
    [".hidden", "%2Ehidden"],
    ["../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"],
    ["a\\b:c*d?", "a%5Cb%3Ac%2Ad%3F"],
    ["a\0b\n", "a%00b%0A"],
    ["", "~"],
    ["~", "%7E"],
  ])("of %j is %s", (name, expected) => {
    expect(fileName(name)).toBe(expected);
  });

  test("is one part of a path, short enough for every file system, whatever the name", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constantFrom(".", "..", "/", "a/..")),
        (name) => {
          const encoded = fileName(name);
          expect(basename(join(folder, encoded))).toBe(encoded);
          expect(encoded).toMatch(/^[A-Za-z0-9_%~-][A-Za-z0-9_.%~-]*$/);
          expect(encoded.length).toBeLessThanOrEqual(200);
        },
      ),
    );
  });

  test("is no other name's, also where names are long and begin alike", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        fc.pre(a !== b);
        expect(fileName(a)).not.toBe(fileName(b));
        const long = "学".repeat(40);
        expect(fileName(long + a)).not.toBe(fileName(long + b));
      }),
    );
  });
});
