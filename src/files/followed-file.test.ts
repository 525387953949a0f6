import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { FollowedFile } from "./followed-file.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-followed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let file = "";
let number = 0;
beforeEach(() => {
  file = join(folder, `${++number}.jsonl`);
});

/** What a look brings: how the file changed, and the new lines. */
function look(followed: FollowedFile, isEnough?: () => boolean): [string, ...string[]] {
  const seen = followed.look();
  if (seen === "same") return [seen];
  return [seen, ...Array.from(followed.read(isEnough), ({ bytes, number }) => `${number} ${bytes}`)];
}

describe("a followed file", () => {
  test("brings each line once, a torn one when it is whole", () => {
    const followed = new FollowedFile(file);
    expect(look(followed)).toEqual(["same"]);
    writeFileSync(file, "one\ntw");
    expect(look(followed)).toEqual(["grown", "1 one"]);
    expect(look(followed)).toEqual(["same"]);
    appendFileSync(file, "o\nthree\n");
    expect(look(followed)).toEqual(["grown", "2 two", "3 three"]);
  });

  test("can be read a part at a time", () => {
    writeFileSync(file, "one\ntwo\nthree\n");
    const followed = new FollowedFile(file);
    expect(look(followed, () => true)).toEqual(["grown", "1 one"]);
    expect(look(followed, () => true)).toEqual(["grown", "2 two"]);
    expect(look(followed)).toEqual(["grown", "3 three"]);
    expect(look(followed)).toEqual(["same"]);
  });

  const changes: { [what: string]: () => void } = {
    "shrank and grew again": () => {
      truncateSync(file, 0);
      appendFileSync(file, "new\nlines\n");
    },
    "was put there anew, and is longer": () => {
      writeFileSync(`${file}.new`, "new\nlines\nand more\n");
      renameSync(`${file}.new`, file);
    },
    "was written over, and is longer": () => writeFileSync(file, "new\nlines and more of them\n"),
    "was written over, and is as long": () => {
      writeFileSync(file, "eno\ntwo\n");
      utimesSync(file, 1, 1);
    },
  };
  for (const [what, change] of Object.entries(changes))
    test(`that ${what} is read from its start`, () => {
      writeFileSync(file, "one\nowt\n");
      const followed = new FollowedFile(file);
      look(followed);
      change();
      const [seen, first] = look(followed);
      expect(seen).toBe("replaced");
      expect(first).toMatch(/^1 (new|eno)$/);
    });

  test("that vanished is empty, and read again when it is back", () => {
    writeFileSync(file, "one\n");
    const followed = new FollowedFile(file);
    look(followed);
    rmSync(file);
    expect(look(followed)).toEqual(["replaced"]);
    expect(look(followed)).toEqual(["same"]);
    writeFileSync(file, "one\n");
    expect(look(followed)[0]).not.toBe("same");
    expect(followed.end).toBe(4);
  });

  test("brings the same lines however it is written", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n", "é") }), { maxLength: 12 }), (parts) => {
        rmSync(file, { force: true });
        const followed = new FollowedFile(file);
        const lines: string[] = [];
        for (const part of parts) {
          appendFileSync(file, part);
          if (followed.look() !== "same") for (const { bytes } of followed.read()) lines.push(bytes.toString());
        }
        expect(lines).toEqual(parts.join("").split("\n").slice(0, -1));
      }),
      { numRuns: 50 },
    );
  });
});
