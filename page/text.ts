// Numbers and times as people read them.

/** "–" for what a record of another version does not say. */
export function count(value: number | undefined): string {
  return value?.toLocaleString("en") ?? "–";
}

export function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

export function dollars(value: number | null): string {
  return value === null
    ? "unknown"
    : value === 0
      ? "$0"
      : value < 0.01
        ? `$${value.toPrecision(2)}`
        : `$${value.toFixed(2)}`;
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600 ? `${(seconds / 3600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} days`;
}

export function ago(milliseconds: number, now = Date.now()): string {
  return milliseconds === 0 ? "" : `${duration(Math.max(0, now - milliseconds) / 1000)} ago`;
}

/** For whoever hovers over a time; nothing where there is none. */
export function exactTime(at: number | string | undefined): string | undefined {
  const time = new Date(at || Number.NaN);
  return Number.isNaN(time.getTime())
    ? undefined
    : time.toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
}

/** "0.75", "1": as many digits as it has, at most three. */
export function scoreText(score: number): string {
  return String(Number(score.toFixed(3)));
}

/** "14:05:09", from seconds since 1970. */
export function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}
