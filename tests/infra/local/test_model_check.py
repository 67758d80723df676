"""Test of a model before it is used: each thing that is wrong or odd has a sentence of its own (N4, U5)."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from infra.local.gateway import build_public_app
from infra.local.local_key import LocalKey, LocalKeyCheck
from infra.local.model_check import (
    ANSWERING,
    IN_LOG,
    NO_CALL,
    NO_JSON,
    READING,
    REPEATS,
    SMALL_WINDOW,
    THINKS_TOO_LONG,
)
from infra.local.model_endpoint import ModelEndpoint
from infra.local.routing import ROOT
from infra.local.token_endpoint import TokenEndpoint
from shared.adapters.embedded.known_models_file import KnownModelsFile
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.model_file import NAME, ModelFile
from shared.models.model_notes import QUIRK_NOTES, STEP_NOTES
from shared.settings import Settings
from tests.fakes import FixedClock
from tests.local_key import KEY_HEADER, LOCAL_KEY
from tests.servers import run_server

pytestmark = pytest.mark.anyio
PATH = "/local/model"
EXTRACTION = {
    "structure": {"title": "Plumber", "overview": "The plumber comes on Tuesday."},
    "memories": [],
}
EXTRACTION_JSON = json.dumps(EXTRACTION)
CALL_JSON = json.dumps({"name": "search_conversations", "arguments": {"query": "water pipe"}})
CALL = {
    "index": 0,
    "id": "call-1",
    "type": "function",
    "function": {"name": "search_conversations", "arguments": '{"query": "water pipe"}'},
}
Body = Mapping[str, Any]
Refuse = Callable[[Body], Response | None]


def take(_: Body) -> None:
    """Refuse nothing."""


@dataclass(kw_only=True)
class Model:
    """A model and its server; `refuse` comes before the answer, which is a delta each."""

    refuse: Refuse = take
    structured: Sequence[Mapping[str, Any]] = ({"content": EXTRACTION_JSON},)
    answer: Sequence[Mapping[str, Any]] = ({"tool_calls": [CALL]},)
    finish_reason: str | None = "stop"
    row: Mapping[str, Any] = field(default_factory=dict)
    listing: Response | None = None
    others: Mapping[str, Callable[["Model"], Any]] = field(default_factory=dict)
    asked: list[Body] = field(default_factory=list)
    lists: int = 0
    url: str = ""

    def build(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._list),
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/{path:path}", self._tell, methods=["GET", "POST"]),
            ]
        )

    async def _list(self, _: Request) -> Response:
        self.lists += 1
        return self.listing or JSONResponse({"data": [{"id": "large", **self.row}]})

    async def _tell(self, request: Request) -> Response:
        tell = self.others.get(request.path_params["path"])
        return JSONResponse(tell(self)) if tell else Response(status_code=404)

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        if refusal := self.refuse(body):
            return refusal
        deltas = self.answer if "tools" in body else self.structured
        choices: list[Body] = [{"delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"delta": {}, "finish_reason": self.finish_reason})
        frames = [json.dumps({"choices": [{"index": 0, **choice}]}) for choice in choices]
        text = "".join(f"data: {frame}\n\n" for frame in (*frames, "[DONE]"))
        return Response(text, media_type="text/event-stream")


def say_no(message: str, status: int = 400, **fields: Any) -> Response:
    return JSONResponse({"error": {"message": message, **fields}}, status_code=status)


def refuse_where(
    is_refused: Callable[[Body], bool], message: str, status: int = 400, **fields: Any
) -> Refuse:
    return lambda body: say_no(message, status, **fields) if is_refused(body) else None


def list_roles(body: Body) -> list[str]:
    return [message["role"] for message in body["messages"]]


def has_user_after_tool(body: Body) -> bool:
    roles = list_roles(body)
    return ("tool", "user") in pairwise(roles)


def has_format(kind: str) -> Callable[[Body], bool]:
    return lambda body: body.get("response_format", {}).get("type") == kind


def has_bounds(body: Body) -> bool:
    schemas = json.dumps([body.get("tools"), body.get("response_format")])
    return '"maximum":' in schemas or '"maxLength":' in schemas


def always(_: Body) -> bool:
    return True


@contextmanager
def serve(model: Model) -> Iterator[Model]:
    with run_server(model.build()) as origin:
        model.url = f"{origin}/v1"
        yield model


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    check = LocalKeyCheck(LocalKey(secret=LOCAL_KEY, place="the note"))
    tokens = TokenEndpoint(LocalIdentity(b"secret"), check)
    models = ModelEndpoint(Settings(), ModelFile(tmp_path), check, FixedClock())
    app = build_public_app([], tokens, models, hosts=["127.0.0.1"])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8080", headers=KEY_HEADER
    ) as client:
        yield client


def build_request(url: str, **fields: str) -> dict[str, str]:
    return {"kind": "compatible", "base_url": url, "api_key": "sk-1", "model": "large", **fields}


async def test_a_working_server_passes_within_two_calls_and_its_list(http):
    with serve(Model(row={"max_model_len": 65_536})) as model:
        answer = await http.put(PATH, json=build_request(model.url))

    shown = answer.json()
    assert (answer.status_code, shown["notes"]) == (200, [])
    assert shown["facts"] == {
        "window_tokens": 65_536,
        "window_source": "server",
        "places": None,
        "takes_tools": None,
    }
    assert shown["tested_at"] == "2026-03-02T12:00:00+00:00"
    assert (len(model.asked), model.lists) == (2, 1)


async def test_it_is_asked_what_conversations_and_questions_ask(http):
    with serve(Model(row={"max_model_len": 65_536})) as model:
        await http.put(PATH, json=build_request(model.url))

    reading, question = model.asked
    assert "memories" in json.dumps(reading["response_format"])
    assert list_roles(question)[-3:] == ["assistant", "tool", "user"]
    names = [tool["function"]["name"] for tool in question["tools"]]
    assert len(names) > 15
    assert {"search_conversations", "delete_memories"} <= {*names}


async def test_in_a_small_window_it_is_offered_what_that_window_will_be(http):
    with serve(Model(row={"max_model_len": 4_096})) as model:
        answer = await http.put(PATH, json=build_request(model.url))

    assert len(model.asked[1]["tools"]) == 6
    assert "4,096 tokens at once" in answer.json()["notes"][0]


THOUGHT = "<think>\nI should look again.\n</think>\n\n"


@pytest.mark.parametrize(
    ("model", "notes"),
    [
        (
            Model(
                refuse=refuse_where(
                    has_format("json_schema"), "This response_format type is unavailable now"
                )
            ),
            [STEP_NOTES["json_object"]],
        ),
        (
            Model(
                refuse=refuse_where(
                    lambda body: "response_format" in body, "response_format is not supported"
                )
            ),
            [STEP_NOTES["text_answers"]],
        ),
        (
            Model(structured=({"content": f"```json\n{EXTRACTION_JSON}\n```"},)),
            [QUIRK_NOTES["wrapped_json"]],
        ),
        (
            Model(
                structured=({"content": THOUGHT}, {"content": EXTRACTION_JSON}),
                answer=({"content": THOUGHT}, {"tool_calls": [CALL]}),
            ),
            [QUIRK_NOTES["tagged_thoughts"]],
        ),
        (
            Model(
                refuse=refuse_where(
                    lambda b: "system" in list_roles(b), "System role not supported"
                )
            ),
            [STEP_NOTES["no_system_role"]],
        ),
        (Model(finish_reason=None), [QUIRK_NOTES["no_finish"]]),
        (
            Model(
                refuse=refuse_where(has_user_after_tool, "Unexpected role 'user' after role 'tool'")
            ),
            [STEP_NOTES["reminder_in_result"]],
        ),
        (
            Model(answer=({"content": f"<tool_call>\n{CALL_JSON}\n</tool_call>"},)),
            [QUIRK_NOTES["written_calls"]],
        ),
        (
            Model(
                refuse=refuse_where(lambda body: "tools" in body, "large does not support tools"),
                structured=({"content": EXTRACTION_JSON},),
            ),
            [STEP_NOTES["no_tools"]],
        ),
        (
            Model(
                refuse=refuse_where(
                    lambda body: "stream_options" in body,
                    "Unrecognized request argument supplied: stream_options",
                )
            ),
            [STEP_NOTES["no_usage"]],
        ),
        (
            Model(refuse=refuse_where(has_bounds, "failed to parse grammar")),
            [STEP_NOTES["plain_schemas"]],
        ),
        (Model(answer=({"content": "I do not know."},)), [NO_CALL]),
        (Model(structured=({"content": "I would rather not."},)), [NO_JSON]),
    ],
    ids=[
        "no JSON schema",
        "no JSON mode",
        "fenced JSON only",
        "think tags in content",
        "system role refused",
        "no finish",
        "user after tool refused",
        "calls as text",
        "no tools",
        "stream_options refused",
        "grammar bounds",
        "no call",
        "no JSON",
    ],
)
async def test_what_is_adapted_to_is_saved_and_said(http, tmp_path, model, notes):
    model.row = {"max_model_len": 65_536}
    with serve(model):
        answer = await http.put(PATH, json=build_request(model.url))
        again = await http.get(PATH)

    assert answer.status_code == 200, answer.json()
    assert answer.json()["notes"] == notes
    assert again.json() == answer.json()
    assert (tmp_path / NAME).exists()


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            Model(row={"max_model_len": 2_048}),
            "2,048 tokens at once where it runs, and at least 4,096",
        ),
        (Model(listing=say_no("wrong", 401)), "refused the key"),
        (Model(refuse=refuse_where(always, "Incorrect API key provided", 401)), "refused the key"),
        (
            Model(refuse=refuse_where(always, "model 'large' not found", 404)),
            "does not know the model",
        ),
        (
            Model(refuse=refuse_where(always, "quota", 429, code="insufficient_quota")),
            "no quota left",
        ),
        (Model(refuse=refuse_where(always, "Insufficient Balance", 402)), "no quota left"),
        (Model(listing=HTMLResponse("<html>Hello</html>")), "is no language model"),
        (
            Model(
                listing=Response(status_code=404),
                refuse=lambda _: HTMLResponse("<html>Hello</html>"),
            ),
            "is no language model",
        ),
        (Model(refuse=refuse_where(always, "no")), f"{READING} {IN_LOG}"),
        (
            Model(
                refuse=refuse_where(lambda body: "tools" in body or "<reminder>" in str(body), "no")
            ),
            f"{ANSWERING} {IN_LOG}",
        ),
        (Model(answer=({"content": ""},)), f"gave no usable answer. {ANSWERING}"),
        (
            Model(answer=({"reasoning_content": "Hm."},), finish_reason="length"),
            THINKS_TOO_LONG,
        ),
    ],
    ids=[
        "window under 4,096",
        "key refused by the list",
        "key refused by the model",
        "model unknown",
        "quota used up",
        "balance used up",
        "a page in the place of the list",
        "a page in the place of the answer",
        "everything refused",
        "questions refused",
        "nothing",
        "thoughts alone",
    ],
)
async def test_what_leaves_no_usable_model_is_refused_with_its_cause(http, tmp_path, model, told):
    model.row = {"max_model_len": 65_536, **model.row}
    with serve(model):
        answer = await http.put(PATH, json=build_request(model.url))

    assert answer.status_code == 422
    assert told in answer.json()["detail"]
    assert answer.json()["detail"].endswith("Nothing was changed. (Model large)")
    assert not (tmp_path / NAME).exists()
    assert (await http.get(PATH)).json()["source"] == "offline"


async def test_a_refused_key_costs_no_call(http):
    with serve(Model(listing=say_no("wrong", 401))) as model:
        await http.put(PATH, json=build_request(model.url))

    assert model.asked == []


async def test_the_window_of_a_model_is_the_one_it_has_once_it_is_loaded(http, tmp_path):
    def tell_loaded(model: Model) -> Any:
        rows = [{"name": "large:latest", "context_length": 32_768}] if model.asked else []
        return {"models": rows}

    shown = {"model_info": {"qwen3.context_length": 40_960}, "capabilities": ["tools"]}
    ollama = Model(others={"api/show": lambda _: shown, "api/ps": tell_loaded})
    with serve(ollama) as model:
        answer = await http.put(PATH, json=build_request(model.url))

    assert len(model.asked[1]["tools"]) == 6
    assert answer.json()["facts"]["window_tokens"] == 32_768
    assert KnownModelsFile(tmp_path).load()[(model.url, "large")].window_tokens == 32_768


async def test_a_window_that_a_refusal_tells_is_taken_at_once(http):
    message = (
        "This model's maximum context length is 5000 tokens. Your messages resulted in 7000 tokens."
    )
    refuse = refuse_where(
        lambda body: len(body.get("tools", ())) > 6, message, code="context_length_exceeded"
    )
    with serve(Model(refuse=refuse)) as model:
        answer = await http.put(PATH, json=build_request(model.url))

    assert answer.status_code == 200, answer.json()
    assert answer.json()["facts"]["window_tokens"] == 5_000
    assert answer.json()["facts"]["window_source"] == "refusal"


async def test_what_was_adapted_to_costs_no_call_of_a_question_any_more(http, tmp_path):
    refuse = refuse_where(lambda body: "stream_options" in body, "stream_options: unknown field")
    with serve(Model(refuse=refuse)) as model:
        await http.put(PATH, json=build_request(model.url))

    assert "no_usage" in KnownModelsFile(tmp_path).load()[(model.url, "large")].steps


async def test_a_small_model_is_asked_to_read_alone(http):
    with serve(Model(finish_reason=None)) as model:
        answer = await http.put(PATH, json=build_request(model.url, small_model="tiny"))

    assert [body["model"] for body in model.asked] == ["large", "large", "tiny"]
    assert f"tiny: {QUIRK_NOTES['no_finish']}" in answer.json()["notes"]


@pytest.mark.parametrize("key", ["sk-1\n", "  sk-1 ", "\tsk-1"])
async def test_what_copying_left_around_a_key_is_dropped(http, tmp_path, key):
    with serve(Model()) as model:
        await http.put(PATH, json=build_request(model.url, api_key=key))

    setup = ModelFile(tmp_path).load()
    assert setup is not None
    assert setup.api_key == "sk-1"


@pytest.mark.parametrize("key", ["sk-ä", "sk\n1", "Bearer sk-1", "sk-\x00"])
async def test_a_key_that_cannot_be_sent_is_refused_in_a_sentence(http, key):
    with serve(Model()) as model:
        answer = await http.put(PATH, json=build_request(model.url, api_key=key))

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("The key cannot be sent: use ASCII letters")
    assert key not in answer.text
    assert model.lists == 0


def test_every_sentence_stands_in_the_document_with_what_it_means():
    document = (ROOT / "docs/models.md").read_text()
    notes = [
        *STEP_NOTES.values(),
        *QUIRK_NOTES.values(),
        NO_CALL,
        NO_JSON,
        REPEATS,
        SMALL_WINDOW,
        THINKS_TOO_LONG,
    ]

    assert [note for note in notes if not stands_in(note, document)] == []


def stands_in(note: str, document: str) -> bool:
    """Look for what comes before the first sign that explains; numbers differ."""
    return re.split(r"[:,({]", note)[0].strip() in document
