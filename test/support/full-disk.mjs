// A preload (`node --import`): while the file named by FULL_WHILE exists, the disk is full; or, if the file holds the code
// of another error (EROFS, EIO), it fails with that. The first write that meets it is half done, as real ones are.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { write, writeSync, fsync, existsSync, readFileSync } = fs;
const flag = process.env.FULL_WHILE;
const halved = new Set();

function failure(call) {
  const code = readFileSync(flag, "utf8").trim() || "ENOSPC";
  const texts = { ENOSPC: "no space left on device", EROFS: "read-only file system", EIO: "i/o error" };
  return Object.assign(new Error(`${code}: ${texts[code]}, ${call}`), { code });
}

function wrapped(descriptor, bytes, offset, length, ...rest) {
  const done = rest.at(-1);
  if (descriptor <= 2 || !existsSync(flag)) return write(descriptor, bytes, offset, length, ...rest);
  if (!halved.has(descriptor) && length > 1) {
    halved.add(descriptor);
    const written = writeSync(descriptor, bytes, offset, Math.floor(length / 2));
    return setImmediate(done, null, written, bytes);
  }
  return setImmediate(done, failure("write"));
}

/** Of what is appended; files that are written whole are on another disk. */
fs.writeSync = (descriptor, bytes, ...rest) => {
  if (descriptor <= 2 || rest.length > 0 || !existsSync(flag)) return writeSync(descriptor, bytes, ...rest);
  if (halved.has(descriptor)) throw failure("write");
  halved.add(descriptor);
  return writeSync(descriptor, bytes, 0, Math.floor(bytes.length / 2));
};
fs.write = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(write));
fs.fsync = (descriptor, done) => {
  if (!existsSync(flag) || readFileSync(flag, "utf8").trim() === "") return fsync(descriptor, done);
  return setImmediate(done, failure("fsync"));
};
syncBuiltinESMExports();
