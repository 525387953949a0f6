import { expect, test } from "vitest";
import { PROGRESS, workFolder } from "./support/cli.ts";
import { SCRIPTED, writeShop } from "./support/shop-dataset.ts";

test.each(["datasets/single domain", "datasets/single_domain", "datasets", "rollout/tools/datasets/single domain"])(
  "the original's folder %s is found without being named, by single --all and by a config",
  async (base) => {
    const work = workFolder();
    writeShop(work, { base });
    work.write("run.yml", "datasets: [Domain1]\n");
    const all = await work.run(["single", "--all", ...SCRIPTED, "--dry-run"]);
    const run = await work.run(["run", "--config", "run.yml", ...SCRIPTED, "--dry-run"]);
    for (const { code, stdout, stderr } of [all, run]) {
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/\nDomain1 +3 +3 /);
      expect(stdout).not.toContain("StudentAcademicPortal");
    }
  },
);

test("a folder that looks like a dataset and is not used is spoken of, once, and never when a folder was named", async () => {
  const work = workFolder();
  writeShop(work, { base: "my data/single_domain" });
  const note =
    'my data looks like a dataset folder and is not used: this uses the bundled domains (to use it: --base-path "my data"; to keep this and say no more: --bundled)\n';
  const limit = ["--limit", "1"];
  const [listed, planned, played, bundled, named, json] = await Promise.all([
    work.run(["single", "--list"]),
    work.run(["single", "--all", "--dry-run"]),
    work.run(["single", "--all", ...limit, "--output-dir", "a"]),
    work.run(["single", "--all", ...limit, "--bundled", "--output-dir", "b"]),
    work.run(["single", "--all", ...limit, "--base-path", "my data", ...SCRIPTED, "--output-dir", "c"]),
    work.run(["single", "--all", ...limit, "--json", "--output-dir", "d"]),
  ]);
  expect([listed.stderr, planned.stderr]).toEqual([note, note]);
  expect(played.stdout.split(note)).toHaveLength(2);
  expect(JSON.parse(json.stdout.split("\n")[0] ?? "")).toMatchObject({ type: "run-note", message: note.trim() });
  for (const { code, stdout, stderr } of [bundled, named]) {
    expect([code, stderr.replace(PROGRESS, "")]).toEqual([0, ""]);
    expect(stdout).not.toContain("looks like");
  }
});

test("two places of one dataset: the first is used, the other spoken of; a kind that a folder lacks is named", async () => {
  const work = workFolder();
  writeShop(work, { base: "datasets/single_domain" });
  writeShop(work, { base: "rollout/tools/datasets/single domain" });
  const single = await work.run(["single", "--list"]);
  expect(single.stdout).toContain("Domain1");
  expect(single.stderr).toBe(
    "rollout/tools/datasets looks like a dataset folder and is not used: this uses datasets (to use it: --base-path rollout/tools/datasets)\n",
  );
  const cross = await work.run(["cross", "--list"]);
  expect(cross.stdout).toContain("StudentAcademicPortal");
  expect(cross.stderr).toMatch(/^datasets, .* not used: this uses the bundled domains \(no cross_domain there\)\n$/);
});

test("run --base-path takes every dataset from that folder, over the config's own", async () => {
  const work = workFolder();
  writeShop(work, { base: "elsewhere/single_domain" });
  work.write("a.yml", "datasets:\n  Domain1:\n    base_path: nowhere\n");
  work.write("b.yml", "auto_discover:\n  base_path: nowhere\n");
  for (const config of ["a.yml", "b.yml"]) {
    const run = await work.run(["run", "--config", config, "--base-path", "elsewhere", ...SCRIPTED, "--dry-run"]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toMatch(/\nDomain1 +3 +3 /);
  }
});
