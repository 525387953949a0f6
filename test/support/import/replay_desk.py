"""The small benchmark's own replay of its references: the texts of the results, and the databases at the end."""
import json
import os
import sys
from types import SimpleNamespace

root = sys.argv[1]
os.environ["TAU2_DATA_DIR"] = os.path.join(root, "data")
sys.path.insert(0, os.path.join(root, "src", "desk", "domains", "library"))
from environment import get_environment  # noqa: E402

with open(os.path.join(root, "data", "desk", "domains", "library", "tasks.json")) as file:
    tasks = json.load(file)
replayed = {}
for task in tasks:
    initial = task.get("initial_state") or {}
    data = initial.get("initialization_data")
    world = get_environment()
    actions = [SimpleNamespace(**each) for each in initial.get("initialization_actions") or []]
    world.set_state(SimpleNamespace(**data) if data else None, actions, [])
    texts = []
    for message in initial.get("message_history") or []:
        for call in message.get("tool_calls") or []:
            world.get_response(SimpleNamespace(**call))
    for action in (task.get("evaluation_criteria") or {}).get("actions") or []:
        call = SimpleNamespace(**{"requestor": "assistant", **action})
        texts.append(world.get_response(call).content)
    state = {"agent": world.tools.db.model_dump(), "user": world.user_tools.db.model_dump()}
    replayed[task["id"]] = {"texts": texts, "state": json.dumps(state, sort_keys=True)}
sys.stderr.write(json.dumps(replayed))
