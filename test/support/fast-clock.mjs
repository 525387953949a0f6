// A preload (`node --import`): intervals come, and the clock that only runs forward goes, as many times faster as
// CLOCK_SPEED says; with CLOCK_TIMEOUTS, time-outs too. Sockets keep their time.
const speed = Number(process.env.CLOCK_SPEED);
const { setInterval: realInterval, setTimeout: realTimeout, performance } = globalThis;
const now = performance.now.bind(performance);

performance.now = () => now() * speed;
globalThis.setInterval = (run, milliseconds, ...given) => realInterval(run, milliseconds / speed, ...given);
if (process.env.CLOCK_TIMEOUTS)
  globalThis.setTimeout = (run, milliseconds, ...given) => realTimeout(run, milliseconds / speed, ...given);
