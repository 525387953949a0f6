# verifiers as the page "Environments", Tool Environments, of its documentation says (docs/legacy in its repository): a ToolEnv
# over plain functions, evaluated with its own concurrency.
import asyncio
import os

import verifiers as vf
from datasets import Dataset

MOST = 512


def open_peer(url, scenario, tools, folder):
    os.environ["BENCH_API_KEY"] = "bench"
    client = vf.ClientConfig(api_base_url=url, api_key_var="BENCH_API_KEY")
    rows = [{"question": scenario["question"], "answer": ""}] * MOST
    env = vf.ToolEnv(
        dataset=Dataset.from_list(rows),
        system_prompt=scenario["system"],
        tools=tools,
        rubric=vf.Rubric(),
        max_turns=20,
    )

    def play(dialogues, at):
        asyncio.run(env.evaluate(client=client, model="bench", num_examples=dialogues, max_concurrent=at))

    return play
