"""A benchmark's MCP server by hand: orders in a database, tools that read and write it, and its own way of telling
whether two databases are the same (a hash of the whole of it, in which 2.0 is not 2).

    depot_server.py [--http]            MCP, as serving.py has it
    depot_server.py --replay TASKS      what each task's plan leads to, one line of JSON each

The environment may ask for trouble: FILL (bytes of further data), DELAY (seconds for each write), STATE (how the state
tool misbehaves: fails, text, changes, late), SHAPE (structured), SEED_TEXT (another database), CALLS (a file that
logs them).
"""
import copy
import hashlib
import json
import os
import re
import sys
import time

from serving import serve, tool

DATABASE = {
    "orders": {
        "O1": {"item": "lamp", "price": 12.5, "status": "open", "to": {"city": "Ghent", "street": "Low 3"}},
        "O2": {"item": "desk", "price": 140, "status": "open", "to": {"city": "Lund", "street": "Oak 9"}},
        "O3": {"item": "chair", "price": 60, "status": "sent", "to": {"city": "Bern", "street": "Elm 1"}},
    },
    "customers": [{"customer_id": "C1", "name": "Ada", "credit": 10.0}, {"customer_id": "C2", "name": "Bo", "credit": 0}],
    "desk": {"day": "2026-03-01", "notes": []},
}
READS = {"look": ["order_id"], "fingerprint": []}
WRITES = {
    "set_price": ["order_id", "price"],
    "cancel": ["order_id"],
    "move": ["order_id", "to"],
    "place": ["item", "price"],
    "credit": ["customer_id", "amount"],
    "note": ["text"],
}


class Depot:
    def __init__(self):
        self.reset()

    def reset(self):
        self.db = copy.deepcopy(DATABASE)
        if os.environ.get("SEED_TEXT"):
            self.db["desk"]["day"] = os.environ["SEED_TEXT"]
        if os.environ.get("FILL"):
            self.db["archive"] = [{"id": n, "text": "x" * 1000} for n in range(int(os.environ["FILL"]) // 1000)]

    def hash(self):
        return hashlib.sha256(json.dumps(self.db, sort_keys=True).encode()).hexdigest()

    def call(self, name, args):
        if os.environ.get("CALLS"):
            with open(os.environ["CALLS"], "a", encoding="utf8") as log:
                log.write(name + "\n")
        if name == "fingerprint":
            return {"hash": self.hash()}
        if name == "reset":
            self.reset()
            return {}
        if name in WRITES:
            time.sleep(float(os.environ.get("DELAY", "0")))
        if name == "place":
            order_id = "O%d" % (len(self.db["orders"]) + 1)
            self.db["orders"][order_id] = {"item": args["item"], "price": args["price"], "status": "open", "to": None}
            return {"order_id": order_id}
        if name == "credit":
            customer = next(each for each in self.db["customers"] if each["customer_id"] == args["customer_id"])
            customer["credit"] = args["amount"]
            return customer
        if name == "note":
            self.db["desk"]["notes"].append(args["text"])
            return {"notes": len(self.db["desk"]["notes"])}
        order = self.db["orders"][args["order_id"]]
        if name != "look" and order["status"] == "sent":
            raise ValueError("the order has been sent")
        if name == "set_price":
            order["price"] = args["price"]
        elif name == "cancel":
            order["status"] = "cancelled"
        elif name == "move":
            order["to"] = args["to"]
        return order


def fill(value, results):
    """References to earlier results, {{tool.field}}, as a plan has them."""
    if isinstance(value, dict):
        return {key: fill(member, results) for key, member in value.items()}
    found = re.fullmatch(r"\{\{(\w+)\.(\w+)\}\}", value) if isinstance(value, str) else None
    return results[found[1]][found[2]] if found else value


def replay(tasks):
    for line in open(tasks, encoding="utf8"):
        task, depot, results = json.loads(line), Depot(), {}
        for turn in task["task_info"]["plan"]:
            for step in turn.get("steps", []):
                for call in step["calls"]:
                    try:
                        results[call["name"]] = depot.call(call["name"], fill(call["arguments"], results))
                    except Exception:
                        pass
        print(json.dumps({"id": task["id"], "hash": depot.hash()}))


def dump(depot):
    trouble = os.environ.get("STATE")
    if trouble == "fails":
        raise ValueError("no state today")
    if trouble == "text":
        return "three orders, two customers"
    if trouble == "changes":
        depot.db["desk"]["notes"].append("looked at")
    if trouble == "late" and depot.db["desk"]["notes"]:
        raise ValueError("no state after a note")
    return json.dumps(depot.db)


def answer(depot, method, params):
    if method == "initialize":
        capabilities = {"tools": {}, "resources": {}}
        info = {"name": "depot", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        tools = [tool(name, fields, True) for name, fields in READS.items()]
        tools += [tool(name, fields, False) for name, fields in WRITES.items()]
        return {"tools": tools + [tool("dump", [], True), tool("reset", [], False)]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "mimeType": "application/json", "text": dump(depot)}]}
    if method == "tools/call":
        try:
            if params["name"] == "dump" and os.environ.get("SHAPE") == "structured":
                parts = [{"type": "text", "text": json.dumps(each, indent=2)} for each in depot.db["customers"]]
                return {"content": parts, "structuredContent": depot.db}
            if params["name"] == "dump":
                return {"content": [{"type": "text", "text": dump(depot)}]}
            result = depot.call(params["name"], params.get("arguments", {}))
            return {"content": [{"type": "text", "text": json.dumps(result)}]}
        except Exception as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {}


def open_depot():
    depot = Depot()
    return lambda method, params: answer(depot, method, params)


if len(sys.argv) > 2 and sys.argv[1] == "--replay":
    replay(sys.argv[2])
else:
    serve(open_depot)
