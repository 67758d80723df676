"""Webhooks to apps, as the servers of released apps parse them and answer (R4)."""

import json
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any
from urllib.parse import parse_qs

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.contracts.omi_client.objects import MESSAGE
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import (
    Reader,
    UnreadableError,
    double,
    each,
    flag,
    optional,
    shape,
    text,
    time,
)
from tests.e2e.product import wait_for_inbox, wait_for_processing
from tests.servers import run_server

WAIT_S = 60


def speaker_number(value: Any) -> int:
    """Read a label as apps do: what stands behind the `_` must be a number."""
    try:
        return int(text(value).split("_")[1])
    except (IndexError, ValueError) as error:
        raise UnreadableError(f" is {value!r}, which is no label") from error


WEBHOOK: Reader = shape(
    id=text,
    created_at=time,
    started_at=time,
    finished_at=time,
    structured=shape(title=text, overview=text, emoji=optional(text), category=optional(text)),
    transcript_segments=each(
        shape(
            text=text,
            speaker=speaker_number,
            is_user=flag,
            person_id=optional(text),
            start=double,
            end=double,
        )
    ),
    photos=each(shape(base64=text, description=text)),
    plugins_results=each(shape(plugin_id=text, content=text)),
    discarded=flag,
)


class Diary:
    """A developer's server: writes a row for each conversation, and answers."""

    def __init__(self) -> None:
        self.answer: dict[str, str] = {}
        self._rows: SimpleQueue[tuple[str, dict[str, Any]]] = SimpleQueue()

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/hook", self._receive, methods=["POST"])])

    def wait_for_row(self) -> tuple[str, dict[str, Any]]:
        """Wait for the next row: whose conversation, and what it holds."""
        return self._rows.get(timeout=WAIT_S)

    @property
    def is_empty(self) -> bool:
        return self._rows.empty()

    async def _receive(self, request: Request) -> JSONResponse:
        conversation = WEBHOOK(json.loads(await request.body()))
        [uid] = parse_qs(request.url.query, strict_parsing=True)["uid"]
        self._rows.put((uid, conversation))
        return JSONResponse(self.answer)


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def diary_url(diary: Diary, developer_port: int) -> Iterator[str]:
    with run_server(diary.app, port=developer_port) as url:
        yield f"{url}/hook"


def install(phone: Phone, url: str, **integration: Any) -> str:
    """Register a diary, and install it."""
    body = {
        "name": "Diary",
        "external_integration": {
            "triggers_on": "memory_creation",
            "webhook_url": url,
            **integration,
        },
    }
    app_id: str = phone.send("POST", "/v1/apps", json=body)["app_id"]
    phone.send("POST", "/v1/apps/enable", params={"app_id": app_id})
    return app_id


def build_talk(speaker: str) -> dict[str, Any]:
    words = "We meet on Friday at ten, and Ann brings the plans for the Lisbon offsite. " * 3
    turn = {"text": words, "speaker": speaker, "is_user": False, "start": 0, "end": 9}
    return {"transcript_segments": [turn]}


@pytest.mark.parametrize("speaker", ["SPEAKER_01", "Ann", "speaker one"])
def test_an_app_parses_what_it_receives_whatever_a_speaker_is_called_r4(
    phone, diary, diary_url, speaker
):
    install(phone, diary_url)

    conversation = phone.add_conversation(**build_talk(speaker))

    uid, row = diary.wait_for_row()
    assert uid
    assert row["id"] == conversation["id"]
    assert row["structured"]["title"]
    assert row["finished_at"] > row["started_at"]
    assert (row["discarded"], len(row["transcript_segments"])) == (False, 1)


def test_a_query_in_the_address_is_kept_r4(phone, diary, diary_url):
    install(phone, f"{diary_url}?token=a%20b")

    phone.add_conversation()

    uid, _ = diary.wait_for_row()
    assert uid


def test_an_app_writes_one_row_for_a_conversation_r4(phone, diary, diary_url):
    """Whatever is changed later: of two conversations there are two rows, in any order."""
    install(phone, diary_url)
    first = phone.add_conversation()["id"]
    path = f"/v1/conversations/{first}"

    phone.send("PATCH", f"{path}/title", params={"title": "Lisbon trip"})
    wait_for_processing(phone.http, first)
    phone.send("PATCH", f"{path}/starred", params={"starred": "true"})
    phone.http.post(f"{path}/reprocess")
    wait_for_processing(phone.http, first)
    second = phone.add_conversation()["id"]

    assert {diary.wait_for_row()[1]["id"] for _ in range(2)} == {first, second}
    assert diary.is_empty


def test_an_answer_becomes_a_message_of_the_app_and_a_push_r4(phone, diary, diary_url):
    app_id = install(phone, diary_url)
    diary.answer = {"message": "Written down."}

    conversation = phone.add_conversation()
    [notice] = wait_for_inbox(phone.http, 1)

    [message] = phone.get("/v2/messages", each(MESSAGE), app_id=app_id, dropdown_selected="false")
    assert (message["text"], message["sender"], message["plugin_id"]) == (
        "Written down.",
        "ai",
        app_id,
    )
    assert message["from_integration"] is True
    assert [memory["id"] for memory in message["memories"]] == [conversation["id"]]
    assert notice["body"] == "Written down."
    assert (notice["id"], notice["app_id"]) == (message["id"], app_id)


def test_an_empty_answer_says_nothing_r4(phone, diary, diary_url):
    app_id = install(phone, diary_url)
    phone.add_conversation()
    diary.wait_for_row()
    diary.answer = {"message": "Written down."}

    phone.add_conversation()

    [notice] = wait_for_inbox(phone.http, 1)
    assert (notice["body"], notice["app_id"]) == ("Written down.", app_id)
