import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createPool, havePython } from "../../../test/support/python/support.ts";
import type { ToolSpec } from "../../core/index.ts";
import { Toolbox } from "../naming.ts";
import { openPython } from "./environment.ts";

const TOOLS = `from __future__ import annotations

import asyncio, enum, functools, os, random
from dataclasses import dataclass
from os.path import join
from typing import Annotated, Literal, Optional, TypedDict, Union


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Box:
    width: float
    color: Color = Color.RED


class Options(TypedDict, total=False):
    deep: bool


def google(query: str, limit: int = 5, site: Optional[str] = None, *, kinds: list[Literal["a", "b"]] = []) -> list:
    """Searches the web.

    It is slow
    and costs.

    Args:
        query: what to look for,
            in words
        limit (int, optional): at most so many

    Returns:
        a list
    """
    return [query, limit, site, kinds]


async def numpy(box: Box, choice: Union[int, str, None], options: Options, ids: set[int], pair: tuple[int, str]):
    """Does numpy things.

    Parameters
    ----------
    box : Box
        The box
        to use.
    choice, ids : something
        Two at once.
    """
    await asyncio.sleep(0)
    return {"box": box, "color": box.color, "is": isinstance(box.color, Color), "choice": choice, "ids": ids, "pair": pair}


@functools.lru_cache
def rest(x: Annotated[int, "a number"], /, y: "float" = 1.0):
    """Adds.

    :param x: not this
    :param float y: the other
        one
    :returns: the sum
    """
    return x + y


def odd_names(session_id: str, tool_name, self=1):
    return {"session": session_id, "tool": tool_name}


def numbers():
    return {"big": 2**63, "one": 1.0, "nan": float("nan")}


def text(): return "plain, not JSON"
def fail(): raise KeyError("missing")
def chance(): return random.random()
def die(): os._exit(3)
def counted(file: str):
    with open(file, "a") as log: log.write("x")
    return os.path.getsize(file)
def _private(): pass
helper = lambda x: x
`;

describe.runIf(await havePython())("plain functions of a Python file", () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  const file = join(folder, "my_tools.py");
  writeFileSync(file, TOOLS);
  const pool = createPool({ size: 1 });
  afterAll(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });
  const open = async (seed = 1) => {
    const toolbox = new Toolbox([{ server: "my_tools", tools: await pool.describe(file) }]);
    const servers = [{ name: "my_tools", file, functions: true }];
    const environment = await openPython({ toolbox, servers, domainName: "my_tools", stateless: true }, pool, seed);
    const call = async (name: string, args: object | string = {}) =>
      environment.call(
        { id: "c", name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
        AbortSignal.any([]),
      );
    return { environment, call };
  };

  test("hints and docstrings of all styles make the schemas; private, imported and nameless functions are no tools", async () => {
    const tools: { [name: string]: ToolSpec } = Object.fromEntries(
      (await pool.describe(file)).map((tool) => [tool.name, tool]),
    );
    expect(Object.keys(tools)).toEqual([
      "google",
      "numpy",
      "rest",
      "odd_names",
      "numbers",
      "text",
      "fail",
      "chance",
      "die",
      "counted",
    ]);
    expect(tools.google).toEqual({
      name: "google",
      description: "Searches the web.\n\nIt is slow and costs.",
      readOnly: true,
      parameters: {
        type: "object",
        properties: {
          query: { type: "string", description: "what to look for, in words" },
          limit: { type: "integer", description: "at most so many", default: 5 },
          site: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
          kinds: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: [] },
        },
        required: ["query"],
        additionalProperties: false,
      },
    });
    expect(tools.numpy?.parameters).toMatchObject({
      properties: {
        box: {
          description: "The box to use.",
          properties: { width: { type: "number" }, color: { type: "string", enum: ["red", "blue"] } },
          required: ["width"],
        },
        choice: { anyOf: [{ type: "integer" }, { type: "string" }, { type: "null" }], description: "Two at once." },
        options: { properties: { deep: { type: "boolean" } }, required: [] },
        ids: { type: "array", items: { type: "integer" }, description: "Two at once." },
        pair: { minItems: 2, maxItems: 2 },
      },
      required: ["box", "choice", "options", "ids", "pair"],
    });
    expect(tools.rest).toMatchObject({
      description: "Adds.",
      parameters: {
        properties: {
          x: { type: "integer", description: "a number" },
          y: { type: "number", description: "the other one" },
        },
        required: ["x"],
      },
    });
  });

  test("arguments arrive as the hints promise, results as the JSON that Python writes", async () => {
    const { call, environment } = await open();
    expect((await call("google", { query: "q", kinds: ["a"] })).content).toBe('["q", 5, null, ["a"]]');
    const box = { width: 1, color: "blue" };
    const made = await call("numpy", { box, choice: null, options: {}, ids: [2, 1, 2], pair: [1, "b"] });
    expect(made).toEqual({
      content:
        '{"box": {"width": 1, "color": "blue"}, "color": "blue", "is": true, "choice": null, "ids": [1, 2], "pair": [1, "b"]}',
      isError: false,
    });
    expect((await call("rest", { x: 3 })).content).toBe("4.0");
    expect((await call("rest", '{"x": 9223372036854775807, "y": 0}')).content).toBe("9223372036854775807");
    expect((await call("odd_names", { session_id: "s", tool_name: [1] })).content).toBe(
      '{"session": "s", "tool": [1]}',
    );
    expect((await call("numbers")).content).toBe('{"big": 9223372036854775808, "one": 1.0, "nan": "NaN"}');
    expect((await call("text")).content).toBe("plain, not JSON");
    expect(await environment.state()).toEqual({});
    await environment.close();
  });

  test("what goes wrong is an error result, and the dialogue goes on", async () => {
    const { call, environment } = await open();
    expect(await call("fail")).toMatchObject({
      content: '{"error":"The tool failed: KeyError: \'missing\'"}',
      isError: true,
    });
    expect(await call("google", { limit: 1 })).toMatchObject({ fault: "invalid_arguments" });
    expect(await call("google", { query: "q", limt: 1 })).toMatchObject({ content: expect.stringContaining("limit") });
    expect(await call("google", "{")).toMatchObject({ fault: "malformed_arguments" });
    expect(await call("_private")).toMatchObject({ fault: "unknown_tool" });
    expect(await call("text")).toMatchObject({ isError: false });
    await environment.close();
  });

  test("answered calls are not made again when their process is lost, nor when they are trusted", async () => {
    const log = join(folder, "log");
    const { call, environment } = await open();
    const other = await open(2);
    expect((await call("counted", { file: log })).content).toBe("1");
    await expect(other.call("die")).rejects.toThrow("ended with exit code 3");
    expect((await call("counted", { file: log })).content).toBe("2");
    const { content: drawn } = await call("chance");
    await environment.close();
    expect(readFileSync(log, "utf8")).toBe("xx");

    const resumed = await open();
    const recorded = { content: "1", isError: false };
    for (const name of ["counted", "counted"])
      expect(resumed.environment.trust?.({ id: "c", name, arguments: "{}" }, recorded)).toBe(true);
    expect((await resumed.call("chance")).content).toBe(drawn); // it has the number that it had
    await resumed.environment.close();
    await other.environment.close();
    expect(readFileSync(log, "utf8")).toBe("xx");
  });

  test.each([
    ["def f(*all): pass", /:1: the function f takes \*all: a tool's parameters need names/],
    ["x = 1\ndef f(a, **more): pass", /:2: the function f takes \*\*more/],
    ["def f(x: complex): pass", /:1: .* "x" of the type complex, which a model cannot write as JSON/],
    ["\n\ndef f(x: 'Missing'): pass", /:3: .* type hints that cannot be read: name 'Missing' is not defined/],
    ["from os.path import join\ndef _f(): pass", /has no functions to offer as tools/],
    ["def f(:", /:1: cannot be loaded: SyntaxError/],
    ["def f(): pass\nraise SystemExit(3)", /:2: cannot be loaded: SystemExit: 3/],
    ["import nothing_like_this", /:1: .*ModuleNotFoundError.*--python/],
    ["import os\nos._exit(7)", /cannot be loaded: Python ended with exit code 7/],
    ["class C: pass\ndef f(x: list[C]): pass", /:2: .* of the type C/],
  ])("%j is refused with its line", async (text, message) => {
    const bad = join(folder, "bad.py");
    writeFileSync(bad, text);
    const own = createPool({ size: 1 });
    await expect(own.describe(bad)).rejects.toThrow(message);
    await own.close();
  });
});
