"""Classes of a checkout of the Berkeley function-calling leaderboard as an MCP server.

    bfcl_server.py ROOT PACKAGE FILE             FILE has `classes` and `tools`
    bfcl_server.py ROOT PACKAGE FILE --describe  FILE has `entries` with `classes` and `turns` of calls as Python texts
"""
import ast
import copy
import importlib
import inspect
import json
import sys

from mcp_stdio import hidden, load_light, serve, take_stdout, tool


class World:
    def __init__(self, sources, described):
        self.sources = sources
        self.described = described
        self.start({}, False)

    def start(self, config, long_context):
        self.instances = {}
        for name in self.described["classes"]:
            instance = load_class(self.sources, name)()
            if hasattr(instance, "_load_scenario"):
                instance._load_scenario(copy.deepcopy(config.get(name, {})), long_context=long_context)
            self.instances[name] = instance

    def tools(self):
        served = [tool(each["name"], each["description"], each["parameters"], False) for each in self.described["tools"]]
        return served + [
            hidden("rollout_setup", "Brings the world to where a task begins."),
            hidden("rollout_state", "What the classes hold."),
            hidden("rollout_reset", "A new world."),
        ]

    def call(self, name, arguments, query=None):
        if name == "rollout_state":
            return json.dumps({each: plain(vars(held)) for each, held in self.instances.items()}, sort_keys=True), False
        if name in ("rollout_setup", "rollout_reset"):
            self.start(arguments.get("config") or {}, bool(arguments.get("long_context")))
            return "{}", False
        owners = [held for held in self.instances.values() if not name.startswith("_") and hasattr(held, name)]
        try:
            result = getattr(owners[-1], name)(**arguments)
        except Exception as error:
            return "Error during execution: %s" % error, True
        return as_text(result), isinstance(result, dict) and bool(result.get("error"))


def as_text(result):
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except Exception:
            pass
    return str(result)


def plain(value, above=()):
    """Public attributes of objects; an object inside of itself is left out."""
    if isinstance(value, dict):
        return {str(key): plain(held, above) for key, held in value.items() if not str(key).startswith("_")}
    if isinstance(value, (list, tuple, set)):
        return [plain(held, above) for held in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if not hasattr(value, "__dict__"):
        return str(value)
    if id(value) in above:
        return None
    return plain({key: held for key, held in vars(value).items() if key != "parent"}, above + (id(value),))


def load_class(sources, name):
    return getattr(importlib.import_module(sources[name]), name)


def read_call(text, classes):
    """`sort('a.txt')` as a name and named arguments."""
    call = ast.parse(text.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("%s is not a plain call" % text)
    positional = [ast.literal_eval(each) for each in call.args]
    arguments = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    if positional:
        owner = [each for each in classes if hasattr(each, call.func.id)][-1]
        names = list(inspect.signature(getattr(owner, call.func.id)).parameters)[1:]
        arguments = {**dict(zip(names, positional)), **arguments}
    return {"name": call.func.id, "arguments": arguments}


def describe(sources, documents, entries):
    plans = {}
    for entry in entries:
        try:
            classes = [load_class(sources, name) for name in entry["classes"]]
            turns = [[read_call(text, classes) for text in turn] for turn in entry["turns"]]
            plans[entry["id"]] = {"turns": json.loads(json.dumps(turns))}
        except Exception as error:
            plans[entry["id"]] = {"problem": "%s: %s" % (type(error).__name__, error)}
    return {"documents": documents, "plans": plans}


def main():
    root, package, path = sys.argv[1:4]
    with open(path, encoding="utf-8") as file:
        described = json.load(file)
    channel = take_stdout()
    config = load_light(package + ".constants.executable_backend_config", root)
    if "--describe" not in sys.argv[4:]:
        return serve(World(config.CLASS_FILE_PATH_MAPPING, described), channel)
    documents = config.MULTI_TURN_FUNC_DOC_FILE_MAPPING
    channel.write(json.dumps(describe(config.CLASS_FILE_PATH_MAPPING, documents, described["entries"])))
    channel.flush()


if __name__ == "__main__":
    main()
