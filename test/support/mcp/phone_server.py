"""A task for two: the carrier's tools are the agent's, the phone's are the user's, and all work on one state.

    phone_server.py [--http] [--part carrier|phone] [--line ID]

`spoil` is listed, and a config should hide it; `age` is not listed, and can be called all the same. The environment
variable DELAY slows writes down.
"""
import json
import os
import sys
import time

from serving import serve, tool

PARTS = {
    "carrier": [tool("get_line", ["line"], True), tool("enable_roaming", ["line"], False)],
    "phone": [
        tool("look_at_screen", [], True),
        tool("set_airplane_mode", ["on"], False),
        tool("spoil", ["what"], False),
    ],
}


def value(flag):
    return sys.argv[sys.argv.index(flag) + 1] if flag in sys.argv else None


class World:
    def __init__(self):
        line = value("--line") or "L1"
        self.state = {"lines": {line: {"roaming": False, "plan": f"plan of {line}"}}, "phone": {"airplane": False, "age": 0}}

    def call(self, name, args):
        if name == "dump":
            return self.state
        phone = self.state["phone"]
        if name in ("enable_roaming", "set_airplane_mode"):
            time.sleep(float(os.environ.get("DELAY", "0")))
        if name in ("get_line", "enable_roaming"):
            line = self.state["lines"][args["line"]]
            if name == "enable_roaming":
                line["roaming"] = True
            return {"line": args["line"], **line}
        if name == "set_airplane_mode":
            phone["airplane"] = args["on"]
        elif name == "spoil":
            phone[args["what"]] = True
        elif name == "age":
            phone["age"] = args["years"]
        elif name != "look_at_screen":
            raise ValueError(f"no {name} here")
        connected = not phone["airplane"] and all(line["roaming"] for line in self.state["lines"].values())
        return {**phone, "connected": connected}

    def answer(self, method, params):
        if method == "initialize":
            info = {"name": "phone", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        if method == "tools/list":
            tools = PARTS.get(value("--part"), PARTS["carrier"] + PARTS["phone"])
            return {"tools": [*tools, tool("dump", [], True)]}
        if method != "tools/call":
            return {}
        try:
            text, failed = json.dumps(self.call(params["name"], params.get("arguments", {}))), False
        except Exception as error:
            text, failed = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}


serve(lambda: World().answer)
