import fc from "fast-check";
import { expect, test } from "vitest";
import { record, says, user } from "../../../test/support/export-records.ts";
import { estimateSimilarity, NearDuplicates, signText } from "./near-duplicates.ts";

const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `w${from + index}`);
const similarity = (a: string, b: string) => estimateSimilarity(signText(a), signText(b));

test("a text is like itself, whatever is in it; case and punctuation do not count", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => similarity(text, text) === 1));
  expect(similarity("Renew my loan, please!", "renew MY loan -- please")).toBe(1);
});

test("the estimate is near the true Jaccard similarity", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 300 }), (start, shared) => {
      // word shingles of three: 300 in each text, of which `shared` are in both
      const a = numbered(start, start + 302).join(" ");
      const b = numbered(start + 300 - shared, start + 602 - shared).join(" ");
      // five standard errors of 96 hashes; texts that share nothing look alike only if hashes collide
      const truth = shared / (600 - shared);
      const bound = shared === 0 ? 0.01 : 5 * Math.sqrt((truth * (1 - truth)) / 96) + 0.02;
      return Math.abs(similarity(a, b) - truth) <= bound;
    }),
  );
});

test("scripts without spaces are compared by characters", () => {
  const text = "请帮我查询一下上个月借的那本书是否可以再续借两个星期谢谢";
  expect(similarity(text, text.replace("谢谢", "多谢"))).toBeGreaterThan(0.75);
  expect(similarity(text, "我想取消明天下午在图书馆预约的会议室")).toBeLessThan(0.1);
});

test("groups are found, others are left alone", () => {
  const near = new NearDuplicates();
  const see = (id: string, words: string[]) =>
    near.see({ ...record({ messages: [user(words.join(" ")), says("")] }), id });
  for (let text = 0; text < 200; text++) see(`t${text}`, numbered(text * 1000, text * 1000 + 200));
  see("close", [...numbered(7000, 7200), "and", "more"]);
  see("same", numbered(9000, 9200));
  see("again", [...numbered(7000, 7200), "and", "less"]);
  see("half", [...numbered(5000, 5130), ...numbered(600_000, 600_070)]);
  expect(near.report()).toMatchObject({
    records: 3,
    groups: 2,
    largest_group: 3,
    examples: [{ ids: ["t7", "close"] }, { ids: ["t9", "same"], similarity: 1 }],
  });
});
