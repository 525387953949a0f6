// Temporary folders of runs that were killed are removed by the next run, and those of live ones never are.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeTempFolder, removeDeadFolders } from "../src/files/index.ts";
import { workFolder } from "./support/cli.ts";
import { havePython } from "./support/python/support.ts";
import { writePythonDataset } from "./support/python-dataset.ts";
import { SCRIPTED } from "./support/shop-dataset.ts";

const withPython = test.runIf(await havePython());

withPython("the next run removes what a kill -9 left behind, while another run keeps its own", async () => {
  const work = workFolder();
  writePythonDataset(join(work.path, "data"), { queries: 2 });
  const file = join(work.path, "data/single domain/mcp_servers/SlotDesk.py");
  const hold = `while os.path.exists(${JSON.stringify(join(work.path, "hold"))}): __import__("time").sleep(0.05)`;
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace("        s.member = member_id\n", `        s.member = member_id\n        ${hold}\n`),
  );
  mkdirSync(join(work.path, "tmp"));
  const env = { TMPDIR: join(work.path, "tmp") };
  const run = (out: string) => [
    "single",
    "--domains",
    "SlotDesk",
    "--base-path",
    "data",
    "--output-dir",
    out,
    ...SCRIPTED,
  ];
  const folders = (pid: number | undefined) =>
    readdirSync(join(work.path, "tmp")).filter(
      (name) => name.startsWith("rollout-python-") && name.includes(`-${pid}-`),
    );
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  work.write("hold", "");
  const killed = work.start(run("a"), { env });
  const live = work.start(run("b"), { env });
  await until(() => folders(killed.child.pid).length > 0 && folders(live.child.pid).length > 0);
  killed.child.kill("SIGKILL");
  await killed.finished;
  expect(folders(killed.child.pid).length).toBeGreaterThan(0);

  const next = work.start(run("c"), { env });
  await until(() => folders(killed.child.pid).length === 0);
  expect(folders(live.child.pid).length).toBeGreaterThan(0);
  work.remove("hold");
  expect([(await live.finished).code, (await next.finished).code]).toEqual([0, 0]);
  expect(readdirSync(join(work.path, "tmp")).filter((name) => name.startsWith("rollout-"))).toEqual([]);
});

test("only folders are removed that say they are ours, from here, and of a process that has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const own = makeTempFolder("python");
  const [, kind, place, pid, start] = /(rollout-python)-(\w+)-(\d+)-(\d*)-/.exec(own) ?? [];
  const kept = [
    "rollout-python-abcdef", // of an earlier version: nobody knows whose
    `${kind}-00000000-999999999-1-abcdef`, // of another machine
    "someone-elses-folder",
    `${kind}-${place}-${pid}-${start}-zzzzzz`,
  ];
  const dead = [`${kind}-${place}-999999999-${start}-abcdef`, `${kind}-${place}-999999999--abcdef`];
  if (start !== "") dead.push(`${kind}-${place}-${pid}-1-abcdef`); // the number was given to us, later
  for (const name of [...kept, ...dead]) mkdirSync(join(folder, name, "inner"), { recursive: true });
  writeFileSync(join(folder, `${kind}-${place}-999999999-1-afile1`), "a file");
  utimesSync(join(folder, kept[0] as string), 0, 0);
  await removeDeadFolders();
  expect(readdirSync(folder).sort()).toEqual(
    [...kept, own.slice(folder.length + 1), `${kind}-${place}-999999999-1-afile1`].sort(),
  );
});
