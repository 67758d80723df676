"""A client of sealed chats in tests: it begins, asks, sends again, and reads what a stream says."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

UI = {"protocol": "ui-message-stream"}


async def begin(http: httpx.AsyncClient) -> str:
    answer = await http.post("/v2/chat-sessions", json={"storage_mode": "client_encrypted"})
    assert answer.status_code == 200, answer.text
    session_id: str = answer.json()["id"]
    return session_id


async def ask(http: httpx.AsyncClient, session_id: str, text: str, **body: Any) -> httpx.Response:
    params = {"chat_session_id": session_id, **UI}
    return await http.post("/v2/messages", json={"text": text, **body}, params=params)


async def resend(
    http: httpx.AsyncClient,
    run_id: str,
    text: str,
    messages: list[dict[str, Any]],
    **body: Any,
) -> httpx.Response:
    return await http.post(
        f"/v2/messages/{run_id}/resend",
        json={"question": {"text": text}, "messages": messages, **body},
    )


def list_chunks(answer: httpx.Response) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{")]


def find_chunk(answer: httpx.Response, kind: str) -> dict[str, Any] | None:
    return next((chunk for chunk in list_chunks(answer) if chunk["type"] == kind), None)


def find_reason(answer: httpx.Response) -> str | None:
    """Return why a stream asks for the messages of its chat; None where it answers."""
    chunk = find_chunk(answer, "data-request-chat-history")
    return chunk["data"]["reason"] if chunk else None


def read_text(answer: httpx.Response) -> str:
    return "".join(c["delta"] for c in list_chunks(answer) if c["type"] == "text-delta")


async def list_messages(http: httpx.AsyncClient, session_id: str) -> list[dict[str, Any]]:
    """Return the cached messages as a client keeps them, oldest first."""
    answer = await http.get("/v2/messages", params={"chat_session_id": session_id})
    return [keep(message) for message in reversed(answer.json())]


def keep(message: Mapping[str, Any]) -> dict[str, Any]:
    return {name: message[name] for name in ("id", "sender", "text", "created_at")}
