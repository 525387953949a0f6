import fc from "fast-check";
import { expect, test } from "vitest";
import { Bm25, type Hit } from "./bm25.ts";
import { findSnippet, splitPages } from "./pages.ts";
import { splitWords } from "./tokens.ts";

/** The formula as textbooks have it, over every text. */
function byFormula(texts: string[][], query: string[], limit: number): Hit[] {
  const average = texts.reduce((sum, words) => sum + words.length, 0) / texts.length;
  const scores = texts.map((words, text) => {
    const score = [...new Set(query)].reduce((sum, word) => {
      const having = texts.filter((other) => other.includes(word)).length;
      const count = words.filter((other) => other === word).length;
      const rarity = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5));
      return sum + (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * words.length) / average));
    }, 0);
    return { text, score };
  });
  return scores
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.text - b.text)
    .slice(0, limit);
}

test("finds what the formula of BM25 finds, in its order, with its scores", () => {
  const word = fc.constantFrom("a", "b", "c", "d", "e", "f");
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 30 }),
      fc.array(word, { maxLength: 4 }),
      fc.integer({ min: 1, max: 5 }),
      (texts, query, limit) => {
        const index = new Bm25();
        for (const words of texts) index.add(words);
        index.search(["a", "f"], 3); // one search leaves nothing for the next
        const found = index.search(query, limit);
        const expected = byFormula(texts, query, limit);
        expect(found.map(({ score }) => score.toFixed(9))).toEqual(expected.map(({ score }) => score.toFixed(9)));
      },
    ),
  );
});

test("of texts that are equally good, the first comes first", () => {
  const index = new Bm25();
  for (const words of [["x"], ["a"], ["x"], ["x"]]) index.add(words);
  expect(index.search(["x"], 2).map(({ text }) => text)).toEqual([0, 2]);
  expect(index.search(["nothing"], 2)).toEqual([]);
});

test.each([
  ["Über-Café's 3.14", ["uber", "cafe", "s", "3", "14"]],
  ["ＦＵＬＬ width", ["full", "width"]],
  ["東京都庁2020 a", ["東京", "京都", "都庁", "2020", "a"]],
  ["王", ["王"]],
  ["意大利的首都是罗马。", ["意大", "大利", "利的", "的首", "首都", "都是", "是罗", "罗马"]],
  ["서울은 수도", ["서울", "울은", "수도"]],
  ["Москва — столица", ["москва", "столица"]],
  ["हिन्दी में", ["हिन्दी", "में"]],
  ["", []],
])("the words of %j are the same whatever they are written with", (text, words) => {
  expect(splitWords(text)).toEqual(words.map((word) => word.normalize("NFC")));
});

test("pages are the whole text, none is too long, and no character is cut in half", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("word ", "😀", "One. ", "\n\n", "長い文。", "x".repeat(900)), { maxLength: 400 }),
      (parts) => {
        const text = parts.join("");
        const pages = splitPages(text);
        expect(pages.join("")).toBe(text);
        expect(pages.length).toBeGreaterThan(0);
        for (const page of pages) {
          expect(page.length).toBeLessThanOrEqual(4000);
          expect(/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(page)).toBe(false);
        }
      },
    ),
  );
});

test("a snippet shows the place of a page that has most of the words", () => {
  const page = `${"Nothing of interest here. ".repeat(40)}The Spree flows through Berlin. ${"More of nothing. ".repeat(40)}`;
  const snippet = findSnippet(page, new Set(["spree", "berlin"]));
  expect(snippet).toContain("The Spree flows through Berlin.");
  expect(snippet.length).toBeLessThanOrEqual(300);
});
