// A preload (`node --import`): once the file named by STEP_FILE exists, the wall clock is off by the milliseconds in it.
import { readFileSync } from "node:fs";

const RealDate = Date;
const file = process.env.STEP_FILE;

function now() {
  let step = 0;
  try {
    step = Number(readFileSync(file, "utf8"));
  } catch {
    // not yet
  }
  return RealDate.now() + step;
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};
