// A preload (`node --import`): while the file named by TAKE_WHILE exists, every free file descriptor is taken.
import { closeSync, existsSync, openSync } from "node:fs";

const taken = [];
setInterval(() => {
  if (existsSync(process.env.TAKE_WHILE)) {
    try {
      for (;;) taken.push(openSync("/dev/null", "r"));
    } catch {
      // all of them
    }
  } else while (taken.length > 0) closeSync(taken.pop());
}, 5).unref();
