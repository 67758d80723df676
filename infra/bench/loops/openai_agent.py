"""OpenAI Agents SDK's runner, streaming, with its tracing off."""

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from infra.bench.loops.pipe import serve

set_tracing_disabled(disabled=True)
RAW, TEXT = "raw_response_event", "response.output_text.delta"


async def lookup(query: str) -> str:
    """Look something up."""
    return query


agent = Agent(
    name="Assistant",
    model=OpenAIChatCompletionsModel("scripted", AsyncOpenAI(max_retries=0)),
    tools=[function_tool(lookup)],
)


async def run_turn(question: str) -> str:
    run = Runner.run_streamed(agent, question)
    events = [item.data async for item in run.stream_events() if item.type == RAW]
    return "".join(event.delta for event in events if event.type == TEXT)


if __name__ == "__main__":
    serve(run_turn)
