// What a session's tables cost is cut short in three places: they are copied, compared and freed. None may be noticed.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { answer, call, createPool, domainAt, havePython } from "../../../test/support/python/support.ts";
import { openPython } from "./environment.ts";

const COPIES = `
import collections, copy, datetime, enum, random, sys
sys.path.insert(0, sys.argv[1])
import rollout_copy
real = copy.deepcopy
rollout_copy.install()

class Colour(enum.Enum):
    RED = 1

class Named:
    def __init__(self, rows): self.rows = rows
    def __eq__(self, other): return type(other) is Named and self.rows == other.rows

class Own:
    copies = 0
    def __deepcopy__(self, memo):
        Own.copies += 1
        return self

def shape(value, seen):
    """Types, values and which container is which: equal for a copy and its copy."""
    if id(value) in seen: return seen[id(value)]
    if isinstance(value, (list, tuple, dict)):
        seen[id(value)] = f"#{len(seen)}"
        members = [part for item in value.items() for part in item] if isinstance(value, dict) else value
        return [type(value).__name__, *[shape(member, seen) for member in members]]
    return [type(value).__name__, repr(value) if not isinstance(value, Named) else shape(value.rows, seen)]

LEAVES = [0, True, None, "a", 1.5, float("nan"), b"x", (1, 2), (), Colour.RED, datetime.date(2020, 1, 2), 2**70, 1j]

def grow(chance, depth, made):
    kind = chance.random()
    if depth == 0 or kind < 0.3: return chance.choice(LEAVES)
    if kind < 0.4 and made: return chance.choice(made)
    if kind < 0.5: return (grow(chance, depth - 1, made), grow(chance, depth - 1, made))
    if kind < 0.55: return Named([grow(chance, depth - 1, made)])
    if kind < 0.6: return collections.OrderedDict(a=grow(chance, depth - 1, made))
    if kind < 0.8:
        value = []
        made.append(value)
        value.extend(grow(chance, depth - 1, made) for _ in range(chance.randint(0, 4)))
        return value
    value = {}
    made.append(value)
    for n in range(chance.randint(0, 4)):
        value[chance.choice([n, str(n), (n, "key"), None, 1.5])] = grow(chance, depth - 1, made)
    return value

for seed in range(3000):
    value = grow(random.Random(seed), 5, [])
    ours, theirs = copy.deepcopy(value), real(value)
    assert shape(ours, {}) == shape(theirs, {}) == shape(value, {}), seed

rows = [{"id": 1, "tags": ["a"]}]
copied = copy.deepcopy(rows)
copied[0]["tags"].append("b")
assert rows == [{"id": 1, "tags": ["a"]}] and copied[0] is not rows[0]
circle = []
circle.append({"me": circle})
copied = copy.deepcopy(circle)
assert copied[0]["me"] is copied and copied is not circle
assert copy.deepcopy([Own(), {"own": Own()}]) and Own.copies == 2
memo = {}
assert copy.deepcopy(rows, memo) is copy.deepcopy(rows, memo)
print("equal")
`;

const SERVER = `
import gc, weakref

gc.set_threshold(0)  # nothing is collected but what the bridge asks for
ALIVE = weakref.WeakSet()
ROWS = [{"row_id": n, "name": str(n), "tags": [n]} for n in range(5)]

class Plain:
    def __init__(self): self.databases = {"Row": [{**row, "tags": list(row["tags"])} for row in ROWS], "Other": []}

class Circle(Plain):
    def __init__(self):
        super().__init__()
        self.me = self

def of_a_class(): return type("Made", (), {"databases": Plain().databases})()

class MemoryDeskServer:
    def __init__(self, domain_name):
        self.sessions = {}
    def _get_session(self, session_id):
        return self.sessions.get(session_id) or Plain()
    def invoke(self, session_id, tool_name, kind="plain", **kw):
        if tool_name == "begin":
            made = self.sessions[session_id] = {"plain": Plain, "circle": Circle, "class": of_a_class}[kind]()
            ALIVE.add(type(made) if kind == "class" else made)
            return len(ALIVE)
        rows = self._get_session(session_id).databases["Row"]
        if tool_name == "turn": rows.reverse()
        if tool_name == "write": rows[2]["tags"].append("new")
        if tool_name == "drop": del self._get_session(session_id).databases["Row"]
        return "done"
`;

describe.runIf(await havePython())("a session's tables", () => {
  const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
  const servers = join(folder, "mcp_servers/");
  mkdirSync(servers);
  writeFileSync(join(servers, "MemoryDesk.py"), SERVER);
  const pool = createPool();
  const open = (seed: number) => openPython(domainAt(servers, "MemoryDesk"), pool, seed);
  afterAll(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });

  test("a quick deep copy is the real one's, whatever is copied", () => {
    const here = fileURLToPath(new URL(".", import.meta.url));
    expect(execFileSync("python3", ["-c", COPIES, here], { encoding: "utf8" })).toBe("equal\n");
  });

  test("a change is seen in whatever form it is made, and no change is none", async () => {
    const play = async (tool: string) => {
      const desk = await open(1);
      await call(desk, "begin");
      await call(desk, tool);
      const state = await desk.state();
      await desk.close();
      return state;
    };
    expect(await play("look")).toEqual({});
    expect(await play("turn")).toEqual({});
    expect(await play("write")).toEqual({ Row: { "2": { tags: [2, "new"] } } });
    expect(await play("drop")).toEqual({ Row: { "0": null, "1": null, "2": null, "3": null, "4": null } });
  });

  test.each(["plain", "circle", "class"])("sessions that are closed leave memory (%s)", async (kind) => {
    const alive: unknown[] = [];
    for (let seed = 1; seed <= 60; seed++) {
      const desk = await open(seed);
      alive.push(await answer(desk, "begin", { kind }));
      await desk.close();
    }
    expect(Math.max(...alive.map(Number))).toBeLessThanOrEqual(kind === "plain" ? 1 : 12);
  });
});
