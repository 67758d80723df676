"""Ollama on this machine: the models that people who have it need not set up anew."""

from collections.abc import Sequence

import httpx

OLLAMA_URL = "http://127.0.0.1:11434"
_TIMEOUT_S = 2.0
_MAX_NAMES = 8


async def list_ollama_models(url: str = OLLAMA_URL) -> Sequence[str]:
    """List some models that Ollama has here; empty where it does not run."""
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
            rows = (await client.get(f"{url}/api/tags")).raise_for_status().json()["models"]
        return [row["name"] for row in rows if row["name"].isprintable()][:_MAX_NAMES]
    except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        return []
