"""Private chats, whatever is done in them: what stores text in clear is refused, and no word is on the disk (C68, M82)."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.chat.sessions.private_chats import NO_FILES, NO_PROJECT
from shared.adapters.cloud.openai_realtime import OpenaiRealtime
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.domain.chats.storage_mode import StorageMode
from tests.fakes import ScriptedModel, ScriptedTranscriber, script_answer
from tests.fixtures.chat import ChatFixture, build_chat_fixture
from tests.functions.chat.test_incognito import read_files
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_voice_routes import SPEECH
from tests.log import capture_log
from tests.servers import run_server
from tests.servers.realtime import FakeRealtime

WORD = "xylophone"
UI = {"protocol": "ui-message-stream"}
MODES: tuple[StorageMode, ...] = ("managed", "incognito", "client_encrypted")


@pytest.fixture
def world(file_database: SqliteDatabase) -> ChatFixture:
    """Store in a file: its bytes are searched."""
    return build_chat_fixture(file_database)


@pytest.fixture(scope="module")
def realtime() -> Iterator[OpenaiRealtime]:
    with run_server(FakeRealtime().app) as url:
        yield OpenaiRealtime(api_key="sk", base_url=f"{url}/v1", model="m", hash_user=str)


@dataclass
class Chat:
    """A chat with one answer, in which something is done; `run_id` names the answer."""

    http: httpx.AsyncClient
    mode: StorageMode
    id: str = ""
    run_id: str = ""

    async def begin(self, **body: str) -> httpx.Response:
        return await self.http.post("/v2/chat-sessions", json={"storage_mode": self.mode, **body})

    async def ask(self, text: str = f"Where is my {WORD}?", **body: Any) -> httpx.Response:
        return await self.http.post(
            "/v2/messages", json={"text": text, **body}, params={"chat_session_id": self.id, **UI}
        )

    async def set(self, path: str, **body: Any) -> httpx.Response:
        return await self.http.put(f"/v2/chat-sessions/{self.id}/{path}", json=body)

    async def post(self, path: str, **body: Any) -> httpx.Response:
        return await self.http.post(f"/v2/{path}", json=body)

    async def change(self, **body: Any) -> httpx.Response:
        return await self.http.patch(f"/v2/chat-sessions/{self.id}", json=body)


async def _begin_with_agent(chat: Chat) -> httpx.Response:
    agent = await chat.http.post("/v1/agents", json={"name": "Cook", "instructions": "Cook."})
    return await chat.begin(agent_id=agent.json()["id"])


async def _begin_in_project(chat: Chat) -> httpx.Response:
    project = await chat.http.post("/v2/projects", json={"name": "Boat"})
    return await chat.begin(project_id=project.json()["id"])


async def _move_to_project(chat: Chat) -> httpx.Response:
    project = await chat.http.post("/v2/projects", json={"name": "Boat"})
    return await chat.change(project_id=project.json()["id"])


async def _focus(chat: Chat) -> httpx.Response:
    mode = {"name": "Brief", "instructions": "Be brief."}
    saved = await chat.http.post("/v1/focus-modes", json=mode)
    return await chat.set("focus", focus_mode_id=saved.json()["id"])


async def _exercise(chat: Chat) -> httpx.Response:
    first, *_ = (await chat.http.get("/v2/exercises")).json()
    return await chat.set("exercise", exercise_id=first["id"])


async def _ask_two_models(chat: Chat) -> httpx.Response:
    return await chat.ask(models=["fast", "agent"])


async def _regenerate(chat: Chat) -> httpx.Response:
    return await chat.http.post(f"/v2/messages/{chat.run_id}/versions", json={}, params=UI)


async def _ask_on_page(chat: Chat) -> httpx.Response:
    return await chat.ask(
        "What is this?", context={"type": "conversation", "id": "c1", "title": WORD}
    )


async def _speak(chat: Chat) -> httpx.Response:
    files = {"files": ("audio_fs160_1.bin", SPEECH, "application/octet-stream")}
    params = {"chat_session_id": chat.id}
    return await chat.http.post("/v2/voice-messages", files=files, params=params)


async def _begin_to_speak(chat: Chat) -> httpx.Response:
    body = {"chat_session_id": chat.id}
    return await chat.http.post("/v2/voice-sessions", json=body)


async def _rate(chat: Chat) -> httpx.Response:
    rating: dict[str, str | int] = {"message_id": chat.run_id, "value": 1, "reason": WORD}
    return await chat.http.post("/v1/users/analytics/chat_message", params=rating)


Deed = Callable[[Chat], Awaitable[httpx.Response]]
DEEDS: dict[str, tuple[Deed, int, tuple[int, int, int]]] = {
    "agent": (_begin_with_agent, 0, (200, 200, 422)),
    "project": (_begin_in_project, 0, (200, 422, 422)),
    "project later": (_move_to_project, 0, (200, 422, 422)),
    "file": (lambda chat: chat.ask(file_ids=["f1"]), 0, (404, 422, 422)),
    "focus": (_focus, 0, (200, 200, 200)),
    "exercise": (_exercise, 0, (200, 200, 200)),
    "two models": (_ask_two_models, 2, (200, 200, 200)),
    "other version": (_regenerate, 1, (200, 200, 200)),
    "remember": (lambda chat: chat.ask(f"/remember my {WORD}"), 0, (200, 200, 200)),
    "rule": (lambda chat: chat.ask(f"/rule No {WORD}"), 0, (200, 200, 200)),
    "forget": (lambda chat: chat.ask(f"/forget {WORD}"), 0, (200, 200, 200)),
    "spoken message": (_speak, 1, (200, 200, 200)),
    "voice session": (_begin_to_speak, 0, (201, 201, 422)),
    "title": (lambda chat: chat.change(title=WORD), 0, (200, 200, 422)),
    "star": (lambda chat: chat.change(starred=True), 0, (200, 200, 422)),
    "rating": (_rate, 0, (200, 200, 200)),
    "page": (_ask_on_page, 1, (200, 200, 200)),
    "report": (lambda chat: chat.post(f"messages/{chat.run_id}/report"), 0, (200, 200, 200)),
    "feedback": (
        lambda chat: chat.post(f"chat-sessions/{chat.id}/feedback", rating="positive"),
        0,
        (200, 200, 200),
    ),
    "end": (lambda chat: chat.post(f"chat-sessions/{chat.id}/end"), 0, (200, 200, 200)),
    "title of a question": (
        lambda chat: chat.post(f"chat-sessions/{chat.id}/generate-title", first_message=WORD),
        0,
        (200, 200, 200),
    ),
    "search": (
        lambda chat: chat.http.get("/v1/chats/search", params={"query": WORD}),
        0,
        (200, 200, 200),
    ),
}
"""What is done, how many answers that takes of the model, and its status in a chat of each mode."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("deed", DEEDS)
async def test_whatever_is_done_in_a_private_chat_no_word_of_it_is_stored_in_clear_c68_m82(
    world: ChatFixture, realtime: OpenaiRealtime, tmp_path: Path, deed: str, mode: StorageMode
) -> None:
    do, answers, statuses = DEEDS[deed]
    spoken = [("A", 0.0, 1.0, f"Where is my {WORD}?")]
    answer = script_answer(f"The {WORD} is here.")
    with (
        capture_log() as log,
        ScriptedModel(*[answer] * (1 + answers)) as model,
    ):
        deps = replace(
            world.deps(model, transcriber=ScriptedTranscriber([spoken])),
            build_realtime=lambda: realtime,
        )
        async with open_chat(deps) as http:
            chat = Chat(http, mode)
            chat.id = (await chat.begin()).json()["id"]
            asked = await chat.ask()
            chat.run_id = asked.headers["x-run-id"]
            world.clock.advance(seconds=5)
            done = await do(chat)

    told = f"{log.text}{world.tasks.created}{world.events.published}".encode()
    places = await read_files(tmp_path) + b"".join(world.blobs.files.values()) + told
    assert done.status_code == statuses[MODES.index(mode)], done.text
    assert (WORD.encode() in places) is (mode == "managed")


@pytest.mark.parametrize("mode", MODES[1:])
async def test_files_and_projects_are_refused_in_the_same_words_in_each_private_chat_c68_m82(
    world: ChatFixture, mode: StorageMode
) -> None:
    async with open_chat(world.deps()) as http:
        chat = Chat(http, mode)
        chat.id = (await chat.begin()).json()["id"]
        refused = [await chat.ask(file_ids=["f1"]), await _begin_in_project(chat)]

    assert [each.json()["detail"] for each in refused] == [NO_FILES, NO_PROJECT]
