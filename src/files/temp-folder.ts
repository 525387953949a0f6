// Temporary folders that a later process can clean up: the name says whose they are. A killed process leaves its folders
// behind; the next one removes them, but only those of this user on this machine whose process has ended.
import { createHash } from "node:crypto";
import { mkdtempSync, readlinkSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { processStart } from "./process-start.ts";

const NAME = /^rollout-([a-z]+)-([0-9a-f]{8})-(\d+)-(\d*)-[A-Za-z0-9]{6}$/;

/** `kind` is one word in small letters. The caller removes the folder when it is done with it. */
export function makeTempFolder(kind: string): string {
  return mkdtempSync(join(tmpdir(), `rollout-${kind}-${place()}-${process.pid}-${ownStart()}-`));
}

/** Removes what killed processes left behind; whatever cannot be removed is left for another time. */
export async function removeDeadFolders(): Promise<void> {
  const folder = tmpdir(); // asked once: there may be thousands of names
  for (const name of await readdir(folder).catch(() => [])) {
    if (!isDead(name)) continue;
    const path = join(folder, name);
    if (await isOurs(path)) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function isDead(name: string): boolean {
  const [, , where, pid, start] = NAME.exec(name) ?? [];
  if (where !== place()) return false;
  const now = processStart(Number(pid));
  return now === undefined || (start !== "" && now !== "" && now !== start);
}

async function isOurs(path: string): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined);
  return status?.isDirectory() === true && status.uid === (process.getuid?.() ?? status.uid);
}

let ownStartText: string | undefined;
function ownStart(): string {
  ownStartText ??= processStart(process.pid) ?? "";
  return ownStartText;
}

let placeText: string | undefined;
/** Where a pid means this process: this host, and in a container with the same name and /tmp, this container. */
function place(): string {
  placeText ??= createHash("sha256").update(`${hostname()} ${pidNamespace()}`).digest("hex").slice(0, 8);
  return placeText;
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return ""; // not Linux
  }
}
