"""The environment of a small benchmark: a library's desk, and the reading lamp of the person who calls it."""
import json
import os
from types import SimpleNamespace

FOLDER = os.path.join(os.environ["TAU2_DATA_DIR"], "desk", "domains", "library")
print("a line that belongs on no channel")


class Database:
    def __init__(self, values):
        self.values = values

    def model_dump(self):
        return json.loads(json.dumps(self.values))


class Tool:
    def __init__(self, name, description, properties, writes):
        self.name = name
        self.writes = writes
        parameters = {"type": "object", "properties": properties, "required": list(properties)}
        self.openai_schema = {"function": {"name": name, "description": description, "parameters": parameters}}


class Kit:
    listed = []

    def __init__(self, values):
        self.db = Database(values)

    def tool_mutates_state(self, name):
        return next(tool.writes for tool in self.listed if tool.name == name)

    def use(self, name, arguments):
        if name not in [tool.name for tool in self.listed]:
            raise ValueError("there is no " + name)
        return getattr(self, name)(**arguments)


TEXT = {"type": "string"}


class Desk(Kit):
    listed = [
        Tool("find_loan", "A loan by its id.", {"loan_id": TEXT}, False),
        Tool("extend_loan", "Extends a loan.", {"loan_id": TEXT, "weeks": {"type": "number"}}, True),
    ]

    def find_loan(self, loan_id):
        if loan_id not in self.db.values["loans"]:
            raise ValueError("no loan " + loan_id)
        return self.db.values["loans"][loan_id]

    def extend_loan(self, loan_id, weeks):
        loan = self.find_loan(loan_id)
        loan["weeks"] += weeks
        return loan


class Lamp(Kit):
    listed = [
        Tool("look", "What the lamp shows.", {}, False),
        Tool("press", "Presses a button of the lamp.", {"button": TEXT}, True),
    ]

    def look(self):
        return self.db.values["lamp"]

    def press(self, button):
        self.db.values["lamp"][button] = not self.db.values["lamp"].get(button, False)
        return "pressed \u201c" + button + "\u201d"

    def unplug(self, plugged):
        self.db.values["lamp"]["plugged"] = plugged


class Environment:
    def __init__(self, desk, lamp):
        self.tools = desk
        self.user_tools = lamp

    def get_policy(self):
        return "Extend loans by four weeks at most.\n"

    def get_tools(self):
        return self.tools.listed

    def get_user_tools(self):
        return self.user_tools.listed

    def set_state(self, data, actions, history):
        if data is not None and data.agent_data:
            self.tools.db.values["loans"].update(data.agent_data["loans"])
        for action in actions or []:
            kit = self.user_tools if action.env_type == "user" else self.tools
            getattr(kit, action.func_name)(**action.arguments)

    def get_response(self, call):
        kit = self.user_tools if call.requestor == "user" else self.tools
        try:
            result, failed = kit.use(call.name, call.arguments), False
        except Exception as error:
            result, failed = "Error: %s" % error, True
        return SimpleNamespace(content=result if isinstance(result, str) else json.dumps(result), error=failed)


def get_environment():
    with open(os.path.join(FOLDER, "db.json")) as file:
        values = json.load(file)
    return Environment(Desk({"loans": values["loans"]}), Lamp({"lamp": values["lamp"]}))
