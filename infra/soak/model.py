"""Model of a soak: a scripted one, which always says the same about conversations and chats."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from infra.bench import client
from infra.bench.processes import ServerProcess, run_scripted_model

SCRIPTS: Mapping[str, Mapping[str, Any]] = {
    "extraction": {
        "structure": {
            "title": "A plan",
            "overview": "Ann sends a plan.",
            "action_items": [{"description": "Send the plan"}],
        },
        "memories": [],
    },
    "discard": {"discard": False},
    "notes": {"title": "A plan", "summary": "They spoke of plans."},
    "summary": {"summary": "They spoke of plans."},
    "reading": {"danger": 0, "harm": 0, "misuse": 0, "injection": 0, "language": "en"},
}


@asynccontextmanager
async def run_model() -> AsyncIterator[ServerProcess]:
    with run_scripted_model() as model:
        scripts = [
            {"schema": schema, "text": json.dumps(answer), "sticky": True}
            for schema, answer in SCRIPTS.items()
        ]
        (await client.request(model.port, "POST", "/script", scripts)).require(204)
        yield model
