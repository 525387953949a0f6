# Inspect as its pages say (inspect.aisi.org.uk: Tools, Solvers, Parallelism): a task whose solver is use_tools and generate,
# which calls tools until the model answers; the model as in Model Providers, OpenAI-compatible.
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import ToolDef


def open_peer(url, scenario, tools, folder):
    offered = [ToolDef(function).as_tool() for function in tools]
    solver = [system_message(scenario["system"]), use_tools(offered), generate()]

    def play(dialogues, at):
        samples = [Sample(id=n + 1, input=scenario["question"]) for n in range(dialogues)]
        [log] = eval(
            Task(dataset=MemoryDataset(samples), solver=solver),
            model="openai-api/bench/bench",
            model_base_url=url,
            model_args={"api_key": "bench"},
            max_connections=at,
            max_samples=at,
            log_dir=f"{folder}/logs",
            display="none",
        )
        if log.status != "success":
            raise RuntimeError(f"the evaluation ended as {log.status}: {log.error and log.error.message}")

    return play
