"""Quirks of refusals without a reason: bodies of any form, and statuses that pass."""

from collections.abc import Mapping

from tests.servers.quirky_openai import End, Quirk, Reply, always, send_json, send_text

_BODIES: Mapping[str, Reply] = {
    "empty": Reply(status=400),
    "a-text": send_text("Bad request", 400, kind="text/plain"),
    "a-page": send_text("<html><h1>400 Bad Request</h1></html>", 400),
    "an-empty-object": send_json({}, 400),
    "an-empty-list": send_json([], 400),
    "null": send_json(None, 400),
    "a-json-text": send_json("Bad request", 400),
    "error-is-null": send_json({"error": None}, 400),
    "error-is-a-list": send_json({"error": ["Bad request"]}, 400),
    "message-is-an-object": send_json({"message": {"detail": "Bad request"}}, 400),
    "code-is-an-object": send_json({"error": {"code": {"a": 1}, "message": 7}}, 400),
    "errors": send_json({"errors": [{"message": "Bad request", "code": 7}]}, 400),
    "detail-is-a-list": send_json({"detail": [{"loc": ["body", "x"], "msg": "Bad request"}]}, 422),
    "detail-is-a-text": send_json({"detail": "Bad request"}, 400),
    "no-utf-8": Reply(status=400, pieces=[b'{"error": "\xff\xfe"}']),
    "half-a-json": Reply(status=400, pieces=[b'{"error": {"message": "Bad']),
    "breaks": Reply(status=400, pieces=[b'{"error": {"message": "Bad'], breaks=True),
    "deep": Reply(status=400, pieces=[b"[" * 50_000]),
    "a-long-number": Reply(status=400, pieces=[b'{"error": {"code": ' + b"9" * 5_000 + b"}}"]),
}
BODIES = (
    *(
        Quirk(
            id=name,
            source="W37's kind: bodies of any form",
            ask="greeting",
            play=always(refusal),
            end=End(failures=("other", "unavailable") if name == "breaks" else ("other",)),
            is_personal=True,
            extra=2,
        )
        for name, refusal in _BODIES.items()
    ),
    *(
        Quirk(
            id=f"status-{status}",
            source="servers and proxies in need of time",
            ask="greeting",
            play=always(send_json({"error": {"message": "Not now"}}, status)),
            end=End(failures=("unavailable",)),
        )
        for status in (408, 409, 425, 500, 502, 503, 504, 520, 524, 529)
    ),
    Quirk(
        id="loading-llama-server",
        source="llama.cpp: the model is loaded",
        ask="greeting",
        play=always(
            send_json(
                {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}},
                503,
            )
        ),
        end=End(failures=("unavailable",)),
    ),
)
