"""MCP over standard input and output, with Python's standard library only. A world has `tools()`, a list of tools as MCP
lists them, and `call(name, arguments, query)`, which returns the text of the result and whether it is an error; `query`
is the id of the query that is played, where we are told."""
import json
import os
import sys


def take_stdout():
    """Standard output is the channel; what a benchmark's code prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return channel


def serve(world, channel):
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = answer(world, request["method"], request.get("params") or {})
        except LookupError as error:
            reply["error"] = {"code": -32601, "message": str(error)}
        channel.write(json.dumps(reply) + "\n")
        channel.flush()


def answer(world, method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "imported", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": world.tools()}
    if method == "tools/call":
        task = (params.get("_meta") or {}).get("rollout/task") or {}
        text, is_error = world.call(params["name"], params.get("arguments") or {}, task.get("query_id"))
        return {"content": [{"type": "text", "text": text}], "isError": is_error}
    if method == "ping":
        return {}
    raise LookupError("there is no method " + str(method))


def tool(name, description, parameters, read_only):
    return {
        "name": name,
        "description": description,
        "inputSchema": parameters,
        "annotations": {"readOnlyHint": bool(read_only)},
    }


def hidden(name, description):
    return tool(name, description, {"type": "object"}, name == "rollout_state")


def load_light(module, root):
    """A package's module without the package's own __init__, which may load everything that it has; in full if it must be."""
    import importlib
    import types

    sys.path.insert(0, root)
    top = module.split(".")[0]
    light = types.ModuleType(top)
    light.__path__ = [os.path.join(root, top)]
    sys.modules[top] = light
    try:
        return importlib.import_module(module)
    except Exception as error:
        for name in [name for name in sys.modules if name == top or name.startswith(top + ".")]:
            del sys.modules[name]
        try:
            return importlib.import_module(module)
        except Exception:
            raise error
