// Starts the model server and one way of calling it, each in a process of its own, and hands back what the caller measured.
import { fork, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { end } from "./processes.mjs";

const support = (file) => fileURLToPath(new URL(file, import.meta.url));

export async function callModel(options, node = process.execPath, caller = "model-caller.mjs") {
  const { latency, steps, turns } = options;
  console.error(`… ${options.way}, ${options.concurrency} at once${steps === undefined ? "" : `, ${steps} steps`}`);
  const server = fork(
    support("model-process.mjs"),
    [latency, ...(steps === undefined ? [] : [steps, "", turns ?? 1])].map(String),
  );
  const { url } = await new Promise((resolve) => server.once("message", resolve));
  try {
    const asked = JSON.stringify({ ...options, url });
    const child = spawnSync(node, ["--expose-gc", support(caller), asked], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (child.status !== 0) throw new Error(`${options.way ?? caller} at ${options.concurrency} failed`);
    const told = new Promise((resolve) => server.once("message", resolve));
    server.send("how large?");
    return { ...JSON.parse(child.stdout.trim().split("\n").at(-1)), ...(await told) };
  } finally {
    await end(server);
  }
}
