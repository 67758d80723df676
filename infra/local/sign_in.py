"""Sign-in of the commands at the running product, with the local key of this account."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from infra.local.local_key import build_key_header
from shared.settings import Settings

REQUEST_TIMEOUT_S = 30


@asynccontextmanager
async def sign_in(origin: str, uid: str) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client that is this user. Raises HTTPStatusError, SettingsError."""
    headers = build_key_header(Settings.from_env())
    async with httpx.AsyncClient(base_url=origin, timeout=REQUEST_TIMEOUT_S) as client:
        answer = await client.post("/local/token", json={"uid": uid}, headers=headers)
        answer.raise_for_status()
        client.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        yield client


def describe_refusal(origin: str, error: httpx.HTTPStatusError) -> str:
    """Describe a refused request in one line, in the server's own words."""
    response = error.response
    if response.headers.get("content-type") == "application/problem+json":
        return f"{origin} refused: {response.json()['detail']}"
    return f"{origin} refused: {response.status_code} {response.reason_phrase}"
