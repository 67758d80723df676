"""Forms of refusals: the bodies in which servers say what they do not take."""

from collections.abc import Sequence
from typing import Any

from tests.servers.quirky_openai import Reply, refuse, send_json

Said = Sequence[tuple[str, str, Reply]]
"""Refusals with a name and a source."""


def refuse_in_google(code: int, message: str, status: str, **fields: Any) -> Reply:
    """Refuse as Gemini's endpoint does: an error in a list."""
    error = {"code": code, "message": message, "status": status, **fields}
    return send_json([{"error": error}], code)


def refuse_in_vllm(message: str) -> Reply:
    error = {"message": message, "type": "BadRequestError", "param": None, "code": 400}
    return send_json({"error": error}, 400)


def refuse_in_old_vllm(message: str, status: int = 400, kind: str = "BadRequestError") -> Reply:
    error = {"object": "error", "message": message, "type": kind, "param": None, "code": status}
    return send_json(error, status)


def refuse_in_openrouter(message: str, code: int, **metadata: Any) -> Reply:
    return send_json({"error": {"message": message, "code": code, "metadata": metadata}}, code)


def forbid_field(*loc: str | int, status: int = 422) -> Reply:
    problem = {
        "type": "extra_forbidden",
        "loc": ["body", *loc],
        "msg": "Extra inputs are not permitted",
        "input": {},
    }
    return send_json({"detail": [problem]}, status)


def forbid_field_in_text(name: str) -> Reply:
    text = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra inputs are not permitted', 'input': 2000}}]"
    return refuse_in_old_vllm(text)


def refuse_argument(name: str) -> Reply:
    return refuse(f"Unrecognized request argument supplied: {name}")
