"""Baseline of the throughput figure: AsyncOpenAI's stream as `data:` frames, and nothing else."""

import sys
from collections.abc import AsyncIterator

import uvicorn
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

client = AsyncOpenAI(max_retries=0)


async def messages(request: Request) -> StreamingResponse:
    text = (await request.json())["text"]
    return StreamingResponse(_stream_frames(text), media_type="text/event-stream")


async def _stream_frames(text: str) -> AsyncIterator[str]:
    stream = await client.chat.completions.create(
        model="scripted", messages=[{"role": "user", "content": text}], stream=True
    )
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            yield f"data: {chunk.choices[0].delta.content}\n\n"


if __name__ == "__main__":
    app = Starlette(routes=[Route("/v2/messages", messages, methods=["POST"])])
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
