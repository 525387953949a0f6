// Variables that every chat template has.

export const GLOBALS = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  raise_exception: (words: unknown) => {
    throw new Error(String(words));
  },
  strftime_now: (format: string) => formatTime(new Date(), format),
  range: (first: number, second?: number, step = 1) => {
    const [from, to] = second === undefined || second === null ? [0, first] : [first, second];
    return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index) => from + index * step);
  },
};

function formatTime(time: Date, format: string): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const name = (part: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-US", part).format(time);
  const parts: { [letter: string]: string } = {
    Y: String(time.getFullYear()),
    y: two(time.getFullYear() % 100),
    m: two(time.getMonth() + 1),
    d: two(time.getDate()),
    b: name({ month: "short" }),
    B: name({ month: "long" }),
    a: name({ weekday: "short" }),
    A: name({ weekday: "long" }),
    H: two(time.getHours()),
    M: two(time.getMinutes()),
    S: two(time.getSeconds()),
    "%": "%",
  };
  return format.replace(/%(.)/g, (all, letter: string) => parts[letter] ?? all);
}
