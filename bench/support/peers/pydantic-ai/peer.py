# Pydantic AI as its pages say (ai.pydantic.dev: Agents, Function Tools; OpenAI-compatible Models): an Agent over plain
# functions, run for each dialogue.
import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def open_peer(url, scenario, tools, folder):
    async def play_all(dialogues, at):
        model = OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="bench"))
        agent = Agent(model, instructions=scenario["system"], tools=tools)
        room = asyncio.Semaphore(at)

        async def play_one():
            async with room:
                await agent.run(scenario["question"])

        await asyncio.gather(*(play_one() for _ in range(dialogues)))

    return lambda dialogues, at: asyncio.run(play_all(dialogues, at))
