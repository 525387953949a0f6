import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/play.ts";
import { type Config, resolveConfig } from "../config/index.ts";
import { chooseOutputs, listOutputs, outputOf } from "./output-files.ts";

const resolve = (config: Config, folder: string) => resolveConfig({ bundled: true, ...config }, { folder });
const DATASETS = { StudentAcademicPortal: {}, StudentHealthServices: {} };

test("each dataset has a file of its own in the run folder, unless it names another", () => {
  const run = resolve({ datasets: { ...DATASETS, StudentHealthServices: { output_path: "out.jsonl" } } }, "runs/a");
  expect(listOutputs(run)).toEqual({
    StudentAcademicPortal: join("runs/a", "trajectories", "StudentAcademicPortal.jsonl"),
    StudentHealthServices: "out.jsonl",
  });
  expect(outputOf("runs/a", { name: "q", rounds: true })).toBe(join("runs/a", "iter{round}.jsonl"));
});

test("two datasets with one file are refused, however the path is written", () => {
  const datasets = {
    StudentAcademicPortal: { output_path: "x.jsonl" },
    StudentHealthServices: { output_path: "./x.jsonl" },
  };
  expect(() => chooseOutputs(resolve({ datasets }, "runs/a"))).toThrow(/Two datasets would write to \.\/x\.jsonl/);
});

test("without resume, a taken folder and a taken output get the next free number", () => {
  const base = temporaryFolder();
  const output_path = join(base, "out.jsonl");
  writeFileSync(output_path, "");
  mkdirSync(join(base, "run.2"));
  mkdirSync(join(base, "run"));
  const config = { datasets: { StudentAcademicPortal: { output_path } }, resume: false };
  const chosen = chooseOutputs(resolve(config, join(base, "run")));
  expect(chosen.folder).toBe(join(base, "run.3"));
  expect(chosen.datasets[0]?.output).toBe(join(base, "out.2.jsonl"));
});

test("a run that was begun next to another continues in the file that its manifest names", () => {
  const folder = temporaryFolder();
  const output = join(folder, "out.2.jsonl");
  const manifest = { format_version: 2, datasets: { StudentAcademicPortal: { output } } };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const asked = { datasets: { StudentAcademicPortal: { output_path: join(folder, "out.jsonl") } } };
  expect(chooseOutputs(resolve(asked, folder)).datasets[0]?.output).toBe(output);
  const other = { datasets: { StudentAcademicPortal: { output_path: join(folder, "else.jsonl") } } };
  expect(chooseOutputs(resolve(other, folder)).datasets[0]?.output).toBe(join(folder, "else.jsonl"));
});
