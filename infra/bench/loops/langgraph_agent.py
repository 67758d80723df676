"""LangGraph's prebuilt agent, as `langchain.agents` makes it today, streaming messages."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from infra.bench.loops.pipe import serve


def lookup(query: str) -> str:
    """Look something up."""
    return query


model = ChatOpenAI(model="scripted", streaming=True, max_retries=0, stream_usage=True)
agent: Any = create_agent(model, [tool(lookup)])


async def run_turn(question: str) -> str:
    messages = {"messages": [{"role": "user", "content": question}]}
    text = []
    async for message, _ in agent.astream(messages, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):
            text.append(str(message.content))
    return "".join(text)


if __name__ == "__main__":
    serve(run_turn)
