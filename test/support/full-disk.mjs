// A preload (`node --import`): while the file named by FULL_WHILE exists, the disk is full. The first write that meets
// it is half done, as real ones are.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { write, writeSync, existsSync } = fs;
const flag = process.env.FULL_WHILE;
const halved = new Set();

function wrapped(descriptor, bytes, offset, length, ...rest) {
  const done = rest.at(-1);
  if (descriptor <= 2 || !existsSync(flag)) return write(descriptor, bytes, offset, length, ...rest);
  if (!halved.has(descriptor) && length > 1) {
    halved.add(descriptor);
    const written = writeSync(descriptor, bytes, offset, Math.floor(length / 2));
    return setImmediate(done, null, written, bytes);
  }
  return setImmediate(done, Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }));
}

fs.write = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(write));
syncBuiltinESMExports();
