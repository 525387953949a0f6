# Plays the dialogues of a peer that is written in Python; driver.mjs is the same for JavaScript and says more.
import importlib.util
import json
import os
import resource
import sys
import time

options = json.loads(sys.argv[1])


def make_tools(scenario):
    """The scenario's tools as plain functions, described as Python's documentation tools expect it."""
    return [make_tool(spec, scenario["record"]) for spec in scenario["tools"]]


def make_tool(spec, record):
    fields = spec["parameters"]["properties"]

    async def find(record_id: str, field: str = "") -> str:
        return f'{{"record_id":{json.dumps(record_id)},{record}'

    find.__name__ = find.__qualname__ = spec["name"]
    lines = [f"    {name}: {of['description']}" for name, of in fields.items()]
    find.__doc__ = "\n".join([spec["description"], "", "Args:", *lines, "", "Returns:", "    The record."])
    return find


def tell(message):
    os.write(3, (json.dumps(message) + "\n").encode())


def cpu_ms():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def peak_mb():
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def load_peer(path):
    spec = importlib.util.spec_from_file_location("peer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    scenario = options["scenario"]
    play = load_peer(options["file"]).open_peer(
        url=options["url"], scenario=scenario, tools=make_tools(scenario), folder=options["folder"]
    )
    warmed = time.monotonic() + options.get("warmMs", 0) / 1000
    play(options["warm"], options["at"])
    while time.monotonic() < warmed:
        play(options["warm"], options["at"])
    tell({"warmed": True})
    for dialogues in options["parts"]:
        tell({"ready": True})
        sys.stdin.readline()
        start, cpu = time.perf_counter(), cpu_ms()
        play(dialogues, options["at"])
        wall_ms = (time.perf_counter() - start) * 1000
        tell({"wallMs": wall_ms, "cpuMs": cpu_ms() - cpu, "peakMb": peak_mb()})
    sys.stdout.flush()
    sys.stdin.readline()  # as in driver.mjs
    os._exit(0)


if __name__ == "__main__":
    main()
