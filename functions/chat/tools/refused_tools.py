"""Refused tools: what a model's server says of a tool that it takes no request with, for its developer."""

from datetime import datetime
from hashlib import sha256

from shared.data.stores import Stores
from shared.domain.apps.app import ModelRefusal
from shared.domain.ids import AppId
from shared.domain.provenance import Source
from shared.outbound.untrusted_text import sanitize_error
from shared.resilience.best_effort import run_best_effort

MAX_WORDS_CHARS = 300


async def record_refused_tool(
    stores: Stores, source: Source, tool_name: str, model: str, words: str, now: datetime
) -> None:
    """Record for an app's developer that a model refuses a tool: once a day, and never failing.

    `tool_name` is the app's own; `words` are the server's, and hold no text of a user.
    """
    if source.kind != "app":
        return
    day = f"{now:%Y-%m-%d}"
    refusal = ModelRefusal(
        id=sha256(f"{tool_name}\n{model}\n{day}".encode()).hexdigest()[:32],
        at=now,
        tool=tool_name,
        model=model,
        words=sanitize_error(" ".join(words.split()))[:MAX_WORDS_CHARS],
    )
    await run_best_effort(stores.model_refusals.add(AppId(source.id), refusal))
