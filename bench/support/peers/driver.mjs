// Plays the dialogues of a peer that is written in JavaScript: loads its file, warms it up, then plays each part as the parent
// says so, and tells on descriptor 3 what the part took. driver.py is the same for Python.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const { file, url, scenario, folder, at, warm, warmMs = 0, parts } = JSON.parse(process.argv[2]);
const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const { open } = await import(file);
const play = await open({ url, scenario, folder, many });
const warmed = performance.now() + warmMs;
do await play(warm, at);
while (performance.now() < warmed);
tell({ warmed: true });
for (const dialogues of parts) {
  tell({ ready: true });
  await words.next();
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await play(dialogues, at);
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - start;
  tell({ wallMs, cpuMs: (user + system) / 1000, peakMb: process.resourceUsage().maxRSS / 1024 });
}
await words.next(); // its parent still looks up what it and its children used, and then ends it
process.exit(0);

function tell(message) {
  writeSync(3, `${JSON.stringify(message)}\n`);
}

/** For peers that have no way of their own to play many: so many dialogues, so many of them at once. */
async function many(dialogues, atOnce, playOne) {
  let next = 0;
  const work = async () => {
    while (next < dialogues) await playOne(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, dialogues) }, work));
}
