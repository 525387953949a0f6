import { expect, test } from "vitest";
import {
  count,
  createTerminal,
  cut,
  displayWidth,
  duration,
  fitWidth,
  printable,
  printableJson,
  type Streams,
  table,
} from "./terminal.ts";

function fakeStreams(stdout: { isTTY?: boolean; columns?: number }, env: NodeJS.ProcessEnv = {}) {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  return { streams: { stdout: { ...stdout, write }, stderr: { write }, env } as unknown as Streams, written };
}

test("colours and redrawing are for a person's screen, unless the environment says otherwise", () => {
  const paints = (isTTY: boolean, env: NodeJS.ProcessEnv) =>
    createTerminal(fakeStreams({ isTTY }, env).streams).paint("red", "x") !== "x";
  expect(paints(true, {})).toBe(true);
  expect(paints(false, {})).toBe(false);
  expect(paints(true, { NO_COLOR: "1" })).toBe(false);
  expect(paints(false, { FORCE_COLOR: "1" })).toBe(true);
  expect(paints(true, { CI: "1" })).toBe(false);
  expect(createTerminal(fakeStreams({ isTTY: true }, { TERM: "dumb" }).streams).interactive).toBe(false);
});

test("lines go out whole, one at a time", () => {
  const { streams, written } = fakeStreams({});
  const terminal = createTerminal(streams);
  terminal.out("one");
  terminal.err("two");
  expect(written).toEqual(["one\n", "two\n"]);
  expect(terminal.columns()).toBe(100);
});

test("control characters and bidi marks become visible dots; tabs, newlines and letters of all scripts stay", () => {
  expect(printable("a\u001b[31mb\u0007c\u202ed\u0000e\u009bf")).toBe("a·[31mb·c·d·e·f");
  expect(printable("tab\there\r\nnext\rline\nüñ 你好 مرحبا 🙂")).toBe("tab\there\nnext\nline\nüñ 你好 مرحبا 🙂");
});

test("nothing from elsewhere reaches the screen as it is, and our own colours do, wherever they stand", () => {
  const { streams, written } = fakeStreams({}, { FORCE_COLOR: "1" });
  const terminal = createTerminal(streams);
  const name = "\u001b[31mShop\u001b]0;title\u0007\u202e\u{e0041}";
  const clean = "·[31mShop·]0;title···";
  const painted = terminal.paint("green", `${name} ${terminal.paint("bold", "ok")}`);
  terminal.out(`${name} ${painted}`);
  terminal.err(name);
  terminal.redraw(2, [painted]);
  for (const line of table([[name, painted]])) terminal.out(line);
  const colours = `\u001b[32m${clean} \u001b[1mok\u001b[22m\u001b[39m`;
  expect(written).toEqual([
    `${clean} ${colours}\n`,
    `${clean}\n`,
    `\u001b[2A\r${colours}\u001b[K\n\u001b[J`,
    `${clean}  ${colours}\n`,
  ]);
});

test("a cell is one line; JSON keeps its meaning", () => {
  expect(table([["a\nb\tc\r\nd", "1"]])).toEqual(["a·b·c·d  1"]);
  const value = { name: "\u001b[2Ja\u007fb\u009bc\u202ed\u{e0041}e\n 你好" };
  for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    expect(printable(printableJson(text))).toBe(printableJson(text));
    expect(JSON.parse(printableJson(text))).toEqual(value);
  }
});

test("tables line up, wide characters and colours included", () => {
  const { paint } = createTerminal(fakeStreams({}, { FORCE_COLOR: "1" }).streams);
  expect(displayWidth(`你好${paint("red", "!")}`)).toBe(5);
  expect(displayWidth(fitWidth(`你好${paint("red", "wide")}`, 6))).toBe(6);
  expect(
    table(
      [
        ["name", "n"],
        ["你好", "10"],
        ["a", "7"],
      ],
      { right: [1] },
    ),
  ).toEqual(["name   n", "你好  10", "a      7"]);
});

test("texts are cut by characters, never inside one", () => {
  expect(cut("🙂🙂🙂", 2)).toBe("🙂…");
  expect(cut("short", 9)).toBe("short");
});

test("numbers and times read as people write them", () => {
  expect([999, 12_345, 123_456, 1_234_567].map(count)).toEqual(["999", "12.3k", "123k", "1.2M"]);
  expect([5, 1500, 45_000, 600_000, 7_500_000].map(duration)).toEqual(["5 ms", "1.5 s", "45 s", "10 min", "2 h 5 min"]);
});
