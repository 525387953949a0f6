"""One domain of a checkout of tau2-bench as an MCP server: its own environment, called through its own code.

    server.py PACKAGE_ROOT MODULE DATA_ROOT [--describe]
"""
import json
import os
import sys
from types import SimpleNamespace

from mcp_stdio import hidden, load_light, serve, take_stdout, tool


class World:
    def __init__(self, module):
        self.module = module
        self.reset()

    def reset(self):
        self.environment = self.module.get_environment()
        agent = {each.name: each for each in self.environment.get_tools()}
        kit = getattr(self.environment, "user_tools", None)
        user = {each.name: each for each in self.environment.get_user_tools()} if kit is not None else {}
        self.agent = {name: ("assistant", name, each) for name, each in agent.items()}
        self.user = {("user_" + name if name in agent else name): ("user", name, each) for name, each in user.items()}

    def tools(self):
        served = [self.describe(name, *each) for name, each in {**self.agent, **self.user}.items()]
        return served + [
            hidden("rollout_setup", "Brings the world to where a task begins."),
            hidden("rollout_state", "The databases of both parties."),
            hidden("rollout_reset", "A new world."),
        ]

    def describe(self, name, party, own, each):
        function = each.openai_schema["function"]
        kit = self.environment.user_tools if party == "user" else self.environment.tools
        return tool(name, function.get("description", ""), function["parameters"], not changes_state(kit, own))

    def call(self, name, arguments, query=None):
        if name == "rollout_state":
            return self.state(), False
        if name == "rollout_reset":
            self.reset()
            return "{}", False
        if name == "rollout_setup":
            return self.setup(arguments)
        if name not in self.agent and name not in self.user:
            return "Error: Tool '%s' not found." % name, True
        party, own, _ = self.user[name] if name in self.user else self.agent[name]
        return self.respond(own, arguments, party)

    def respond(self, name, arguments, requestor):
        call = SimpleNamespace(id="", name=name, arguments=arguments, requestor=requestor)
        response = self.environment.get_response(call)
        return response.content, bool(response.error)

    def setup(self, task):
        try:
            data = task.get("data")
            actions = [SimpleNamespace(**action) for action in task.get("actions") or []]
            self.environment.set_state(
                SimpleNamespace(**{"agent_data": None, "user_data": None, **data}) if data else None, actions or None, []
            )
        except Exception as error:
            return "%s: %s" % (type(error).__name__, error), True
        for call in task.get("calls") or []:
            self.respond(call["name"], call["arguments"], call.get("requestor", "assistant"))
        return "{}", False

    def state(self):
        kits = {"agent": self.environment.tools, "user": getattr(self.environment, "user_tools", None)}
        databases = {party: kit.db for party, kit in kits.items() if getattr(kit, "db", None) is not None}
        if databases.get("user") is databases.get("agent"):
            databases.pop("user", None)
        return json.dumps(
            {party: database.model_dump() for party, database in databases.items()}, sort_keys=True, default=str
        )


def changes_state(kit, name):
    if hasattr(kit, "tool_mutates_state"):
        return kit.tool_mutates_state(name)
    return str(getattr(kit.tool_type(name), "value", kit.tool_type(name))) == "write"


def main():
    root, module, data = sys.argv[1:4]
    os.environ["TAU2_DATA_DIR"] = data
    channel = take_stdout()
    world = World(load_light(module, root))
    if "--describe" not in sys.argv[4:]:
        return serve(world, channel)
    described = {"policy": world.environment.get_policy(), "agent": list(world.agent), "user": {}}
    described["user"] = {own: name for name, (_, own, _) in world.user.items()}
    channel.write(json.dumps(described))
    channel.flush()


if __name__ == "__main__":
    main()
