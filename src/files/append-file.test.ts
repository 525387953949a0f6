import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { AppendFile, type SyncMode } from "./append-file.ts";
import { scanLines } from "./lines.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-append-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const fresh = () => join(folder, "deeper", `${++made}.jsonl`);
const modes: SyncMode[] = ["batch", "always", "never"];

describe.each(modes)("with sync %s", (sync) => {
  test("lines stand in the order they were appended in, whoever waits for what", async () => {
    const path = fresh();
    const file = new AppendFile(path, { sync });
    const appended: Promise<void>[] = [];
    for (let n = 0; n < 500; n++) {
      appended.push(file.append(`${n}\n`));
      if (n % 50 === 0) await appended[n];
      if (n % 170 === 0) await file.synced();
    }
    await Promise.all(appended);
    expect(readFileSync(path, "utf8")).toBe(Array.from({ length: 500 }, (_, n) => `${n}\n`).join(""));
    await file.close();
  });

  test("an append that has resolved is in the file, and so is all that was appended in the same tick", async () => {
    const path = fresh();
    const file = new AppendFile(path, { sync });
    const first = file.append("1\n");
    const others = [file.append("2\n"), file.append("3\n")];
    await first;
    expect(readFileSync(path, "utf8")).toBe("1\n2\n3\n");
    await Promise.all(others);
    await file.close();
  });

  test("waiting for the disk ends, also when nothing is left to sync and while lines keep coming", async () => {
    const file = new AppendFile(fresh(), { sync });
    await file.synced();
    const waits: Promise<void>[] = [];
    for (let n = 0; n < 5; n++) {
      await file.append(`${n}\n`);
      waits.push(file.synced());
    }
    await Promise.all(waits);
    await file.append("last\n");
    await file.close();
    expect(readFileSync(file.path, "utf8").split("\n")).toHaveLength(7);
  });
});

describe("a file that is there already", () => {
  test("loses its torn tail before anything is appended", async () => {
    const path = fresh();
    await new AppendFile(path, { sync: "never" }).close();
    writeFileSync(path, "one\ntwo\ntorn");
    const file = new AppendFile(path, { sync: "never" });
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
    await file.append("three\n");
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  });

  test("is cut where a scan has found its end, without another scan", async () => {
    const path = fresh();
    await new AppendFile(path, { sync: "never" }).close();
    writeFileSync(path, "one\ntwo\nhalf");
    const completeBytes = scanLines(path, () => {});
    await new AppendFile(path, { sync: "never", completeBytes }).close();
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
  });

  test("closing twice closes once: the second close never meets another file that has its number by then", async () => {
    const file = new AppendFile(fresh(), { sync: "batch" });
    await Promise.all([file.append("one\n"), file.close(), file.close()]);
    const other = new AppendFile(fresh(), { sync: "never" });
    await file.close();
    await other.append("still open\n");
    await other.close();
    expect(readFileSync(other.path, "utf8")).toBe("still open\n");
  });

  test("cut at any byte and continued, holds whole lines only, and none twice", async () => {
    const lines = ["{}\n", '{"a":"é"}\n', "\n", '{"b":[1,2]}\n'];
    const whole = Buffer.from(lines.join(""));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length), async (cut) => {
        const path = join(folder, "cut.jsonl");
        writeFileSync(path, whole.subarray(0, cut));
        const file = new AppendFile(path, { sync: "never" });
        const kept = readFileSync(path, "utf8");
        expect(whole.toString().startsWith(kept)).toBe(true);
        expect(kept === "" || kept.endsWith("\n")).toBe(true);
        const count = kept.split("\n").length - 1;
        for (const line of lines.slice(count)) await file.append(line);
        await file.close();
        expect(readFileSync(path)).toEqual(whole);
      }),
    );
  });
});

test.each(modes)("closing with sync %s writes what was appended before, however much is under way", async (sync) => {
  const file = new AppendFile(fresh(), { sync });
  const appended = Array.from({ length: 100 }, (_, n) => file.append(`${n}\n`));
  await file.close();
  await Promise.all(appended);
  expect(readFileSync(file.path, "utf8").split("\n")).toHaveLength(101);
});

test("an append to a closed file is refused and lands in no other file", async () => {
  const file = new AppendFile(fresh(), { sync: "never" });
  await file.append("1\n");
  await file.close();
  await expect(file.append("2\n")).rejects.toThrow(`${file.path} is closed`);
  await expect(file.synced()).rejects.toThrow(`${file.path} is closed`);
  expect(readFileSync(file.path, "utf8")).toBe("1\n");
});

test.runIf(process.platform === "linux")("a full disk is told once, and the append waits", async () => {
  const path = join(folder, "full.jsonl");
  symlinkSync("/dev/full", path);
  const source = `
    import { AppendFile } from ${JSON.stringify(new URL("./append-file.ts", import.meta.url).href)};
    const file = new AppendFile(${JSON.stringify(path)}, { sync: "never", completeBytes: 0, onPause: (message) => console.log(message) });
    file.append("1\\n").then(() => console.log("written"), () => console.log("refused"));
  `;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    expect(line).toBe(`No space left for ${path}: paused until there is room again`);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
