// Whether a process is alive, and whether it is still the same one: what locks and temporary folders are judged by.
import { readFileSync } from "node:fs";

/**
 * When a process started, so that a reused pid is not taken for its predecessor; "" if that is unknown, undefined if no
 * such process is alive.
 */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : (fields[19] ?? "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ESRCH" ? undefined : ""; // gone between the two looks; without /proc nothing more is known
  }
}
