# tau2-bench as its pages say (src/tau2/domains/README.md: adding a domain; src/tau2/runner/README.md: Layer 3): a domain in the
# registry, its LLM agent and its user simulator, run_tasks with its own concurrency, results saved.
from pathlib import Path

from tau2.data_model.simulation import TextRunConfig
from tau2.data_model.tasks import Task
from tau2.environment.db import DB
from tau2.environment.environment import Environment
from tau2.environment.toolkit import ToolKitBase, ToolType, is_tool
from tau2.registry import registry
from tau2.runner import run_tasks

DOMAIN = "library"


class LibraryDB(DB):
    pass


def make_toolkit(scenario, tools):
    def make_method(function):
        def method(self, record_id: str, field: str = "") -> str:
            return f'{{"record_id":"{record_id}",{scenario["record"]}'

        method.__name__, method.__doc__ = function.__name__, function.__doc__
        return is_tool(ToolType.READ)(method)

    return type("LibraryTools", (ToolKitBase,), {tool.__name__: make_method(tool) for tool in tools})


def open_peer(url, scenario, tools, folder):
    toolkit = make_toolkit(scenario, tools)

    def get_environment(db=None, solo_mode=False):
        return Environment(domain_name=DOMAIN, policy=scenario["system"], tools=toolkit(db or LibraryDB()))

    registry.register_domain(get_environment, DOMAIN)
    llm = {"api_base": url, "api_key": "bench", "temperature": 0.0}
    runs = iter(range(1000))

    def play(dialogues, at):
        config = TextRunConfig(
            domain=DOMAIN,
            agent="llm_agent",
            llm_agent="openai/bench",
            llm_args_agent=llm,
            user="user_simulator",
            llm_user="openai/bench",
            llm_args_user=llm,
            max_concurrency=at,
            log_level="ERROR",
        )
        scene = {"instructions": scenario["question"]}
        tasks = [Task(id=str(n), user_scenario=scene) for n in range(dialogues)]
        results = run_tasks(
            config,
            tasks,
            save_path=Path(folder) / f"run-{next(runs)}" / "results.json",
            console_display=False,
        )
        ends = {str(run.termination_reason) for run in results.simulations}
        if len(results.simulations) != dialogues or not all("user_stop" in end.lower() for end in ends):
            raise RuntimeError(f"{len(results.simulations)} of {dialogues} dialogues, ended as {ends}")

    return play
