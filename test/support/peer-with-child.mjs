// A peer for bench/support/peers/drive.mjs whose work is done by others: the floor plays, and for each dialogue a child that
// stays and a child that ends burn 120 ms of CPU time each.
import { execFile, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const own = fileURLToPath(import.meta.url);
if (process.argv[2] === "burn") {
  if (process.send)
    process.on("message", () => {
      burn();
      process.send("burnt");
    });
  else burn();
}

export async function open(options) {
  const floor = await import("../../bench/support/peers/floor/peer.mjs");
  const playFloor = floor.open(options);
  const child = fork(own, ["burn"]);
  return async (dialogues, at) => {
    await playFloor(dialogues, at);
    for (let n = 0; n < dialogues; n++) {
      await promisify(execFile)(process.execPath, [own, "burn"]);
      child.send("burn");
      await new Promise((resolve) => child.once("message", resolve));
    }
  };
}

function burn() {
  const used = () => Object.values(process.cpuUsage()).reduce((sum, part) => sum + part, 0);
  const end = used() + 120_000;
  while (used() < end);
}
