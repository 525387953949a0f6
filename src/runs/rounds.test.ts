import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { allRounds, recordFiles, roundFile, roundFiles } from "./rounds.ts";

function folderWith(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-rounds-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "trajectories"));
  for (const file of files) writeFileSync(join(folder, file), "");
  return folder;
}

test("the round files that are there are found in order, and nothing else", () => {
  const folder = folderWith(
    "iter10.jsonl",
    "iter2.jsonl",
    "iter1.jsonl",
    "iter0.jsonl",
    "iterx.jsonl",
    "iter3.jsonl.new",
  );
  expect(roundFiles(join(folder, "iter{round}.jsonl"))).toEqual([1, 2, 10].map((n) => join(folder, `iter${n}.jsonl`)));
  expect(roundFiles(join(folder, "nowhere", "iter{round}.jsonl"))).toEqual([]);
  expect(roundFiles(join(folder, "plain.jsonl"))).toEqual([join(folder, "plain.jsonl")]);
});

test("rollout 0 stands in the first round's file", () => {
  expect(roundFile("out/iter{round}.jsonl", 0)).toBe("out/iter1.jsonl");
  expect(roundFile("out/plain.jsonl", 3)).toBe("out/plain.jsonl");
  expect(allRounds("out/iter{round}.jsonl", 2)).toEqual(["out/iter1.jsonl", "out/iter2.jsonl"]);
});

test("records of a run that was moved are found where they usually stand", () => {
  const folder = folderWith("iter1.jsonl", "trajectories/Desk.jsonl");
  expect(recordFiles(folder, "q", "/gone/iter{round}.jsonl")).toEqual([join(folder, "iter1.jsonl")]);
  expect(recordFiles(folder, "Desk", "/gone/trajectories/Desk.jsonl")).toEqual([
    join(folder, "trajectories/Desk.jsonl"),
  ]);
  expect(recordFiles(folder, "Other", "/gone/other.jsonl")).toEqual(["/gone/other.jsonl"]);
});
