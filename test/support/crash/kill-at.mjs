// A preload (`node --import`): ends the process by SIGKILL at its n-th write, sync, rename, link, truncation or removal.
// KILL_AT is n; KILL_HOW says when: "before" it, "torn" (half of a write is done), "after" it. Without a kill, the
// number of such operations is printed on the last line of standard output.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const at = Number(process.env.KILL_AT ?? Number.POSITIVE_INFINITY);
const how = process.env.KILL_HOW ?? "before";
const { writeSync: plainWrite, writeFileSync: plainWriteFile } = fs;
let operations = 0;

const die = () => {
  process.kill(process.pid, "SIGKILL");
  for (;;);
};

/** `part` does half of the operation, if it can be halved; `whole` does all of it at once. */
function wrap(name, { isOurs = () => true, part, whole }) {
  const original = fs[name];
  const wrapped = (...args) => {
    if (!isOurs(...args)) return original(...args);
    if (++operations === at) {
      if (how === "torn") part?.(...args);
      if (how === "after") (whole ?? original)(...args);
      die();
    }
    return original(...args);
  };
  fs[name] = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
}

const isFile = (descriptor) => descriptor > 2;
const half = (length) => Math.floor(length / 2);
wrap("write", {
  isOurs: isFile,
  part: (descriptor, bytes, offset, length) => plainWrite(descriptor, bytes, offset, half(length)),
  whole: (descriptor, bytes, offset, length) => plainWrite(descriptor, bytes, offset, length),
});
wrap("writeSync", { isOurs: isFile });
wrap("writeFileSync", {
  isOurs: (path) => !String(path).endsWith(".calls"),
  part: (path, text, options) => plainWriteFile(path, String(text).slice(0, half(String(text).length)), options),
});
wrap("fsync", { isOurs: isFile, whole: (descriptor) => fs.fdatasyncSync(descriptor) });
for (const name of ["fsyncSync", "ftruncateSync", "renameSync", "linkSync", "rmSync"]) wrap(name, {});
syncBuiltinESMExports();

process.on("exit", () => plainWrite(1, `\n${operations}`));
