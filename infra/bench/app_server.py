"""App server to call: it answers `/find` at once and `/slow` after so many seconds."""

import argparse
import asyncio

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

PARAMETERS = {"properties": {"q": {"type": "string"}}, "required": ["q"]}
CHOICES = [{"const": {"number": n, "name": ""}} for n in range(200)]
SCHEMAS = {
    "find": PARAMETERS,
    "slow": PARAMETERS,
    "unique": {"properties": {"rows": {"uniqueItems": True}}},
    "choose": {"properties": {"rows": {"items": {"anyOf": CHOICES}}}},
}
TOOLS = [
    {"name": name, "description": "Find a note", "endpoint": "/find", "parameters": schema}
    | ({"endpoint": "/slow"} if name == "slow" else {})
    for name, schema in SCHEMAS.items()
]
MANY_TOOLS = [TOOLS[0] | {"name": f"find_{n}"} for n in range(26)]
"""With the tools of Keepsake itself, forty are offered."""
SLOW_RESPONSE_S = 20


async def manifest(_: Request) -> JSONResponse:
    return JSONResponse({"tools": TOOLS})


async def many_tools(_: Request) -> JSONResponse:
    return JSONResponse({"tools": MANY_TOOLS})


async def find(request: Request) -> JSONResponse:
    await request.json()
    return JSONResponse({"result": "Milk, eggs."})


async def slow(_: Request) -> JSONResponse:
    await asyncio.sleep(SLOW_RESPONSE_S)
    return JSONResponse({"result": "Milk, eggs."})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    routes = [
        Route("/.well-known/omi-tools.json", manifest),
        Route("/many-tools.json", many_tools),
        Route("/find", find, methods=["POST"]),
        Route("/slow", slow, methods=["POST"]),
    ]
    port = parser.parse_args().port
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, access_log=False)


if __name__ == "__main__":
    main()
