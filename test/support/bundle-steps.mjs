// The steps of a run that goes to another machine, each in a process and a working folder of its own, with the built
// program: `here CONFIG OUT` runs it as usual, `pack CONFIG STORE` writes what is sent, `there STORE CACHE OUT` is a worker.
import { createReadStream, createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { resolveConfigFile } from "../../dist/config/index.js";
import { packRun, unpackRun } from "../../dist/queue/bundle/index.js";
import { makeRollouts } from "../../dist/runner/index.js";

const [step, ...args] = process.argv.slice(2);

async function play(run, folder) {
  const notes = [];
  const onEvent = (event) => event.type === "run-note" && notes.push(event.message);
  const result = await makeRollouts({ ...run, folder }, { env: process.env, onEvent });
  process.stdout.write(JSON.stringify({ ...result, notes }));
}

const steps = {
  here: (config, out) => play(resolveConfigFile(config), out),
  async pack(config, store) {
    const { read, ...bundle } = await packRun(resolveConfigFile(config), process.env);
    mkdirSync(join(store, "files"), { recursive: true });
    for (const { hash } of bundle.files) await pipeline(read(hash), createWriteStream(join(store, "files", hash)));
    writeFileSync(join(store, "bundle.json"), JSON.stringify(bundle));
    process.stdout.write(
      JSON.stringify({ files: bundle.files.map(({ path }) => path), needs: bundle.needs, notes: bundle.notes }),
    );
  },
  async there(store, cache, out) {
    const bundle = JSON.parse(readFileSync(join(store, "bundle.json"), "utf8"));
    const fetched = [];
    const fetchFile = (hash) => {
      fetched.push(hash);
      return createReadStream(join(store, "files", hash));
    };
    const run = await unpackRun(bundle, { cache, env: process.env, fetchFile });
    await play({ ...run, config: { ...run.config, sync: "never" } }, out);
  },
};

try {
  await steps[step](...args);
} catch (error) {
  process.stderr.write(`${error.name}: ${error.message}\n`);
  process.exitCode = 2;
}
