"""Voice messages: written down once, asked like any question, and refused in words (P22)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.voice.voice_messages import IN_PROGRESS, MAX_VOICE_BYTES, NO_FILE, TOO_LARGE
from functions.chat.voice.voice_sound import TOO_LONG
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.conversations.speech import Transcription, Voice
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.store.documents import Query
from shared.library.recordings import NO_TRANSCRIBER
from shared.library.sound import NO_SOUND
from tests.fakes import ScriptedModel, ScriptedTranscriber, UnmaskedModels, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.fixtures.sounds import build_tone, encode_for_device
from tests.functions.chat.test_message_routes import open_chat
from tests.old_app import RenderedAnswer, parse_as_fixed_app, parse_as_old_app

SPEECH = encode_for_device(build_tone(1))
WAV = build_tone(1)
WORDS = [("A", 0.0, 0.5, "Where are"), ("A", 0.5, 1.0, "my keys?")]
VOICE = "/v2/voice-messages"
TRANSCRIBE = "/v2/voice-message/transcribe"


async def post(
    deps: ChatDeps,
    path: str,
    content: bytes | None = SPEECH,
    *,
    uid: str = ADA,
    name: str = "audio_fs160_1772438400.bin",
    data: Mapping[str, str] | None = None,
    **query: str,
) -> httpx.Response:
    field = "files" if content is not None else "other"
    files = {field: (name, content or b"", "application/octet-stream")}
    async with open_chat(deps, uid) as http:
        return await http.post(path, files=files, data=data, params=query)


async def speak(deps: ChatDeps, content: bytes | None = SPEECH, **options: Any) -> RenderedAnswer:
    response = await post(deps, VOICE, content, **options)
    assert response.status_code == 200, response.text
    screen = parse_as_fixed_app([response.content])
    assert not screen.failed
    assert parse_as_old_app([response.content]) == screen
    return screen


async def list_texts(deps: ChatDeps, **query: str) -> list[str]:
    async with open_chat(deps) as http:
        messages = (await http.get("/v2/messages", params=query)).json()
    return [message["text"] for message in messages]


async def test_what_was_said_comes_first_and_is_answered_like_a_question_p22(
    world: ChatFixture,
) -> None:
    transcriber = ScriptedTranscriber([WORDS])
    with ScriptedModel(script_answer("In the hall.")) as model:
        deps = world.deps(model, transcriber=transcriber)
        response = await post(deps, VOICE)
        screen = parse_as_fixed_app([response.content])
        texts = await list_texts(deps)

    assert response.content.startswith(b"message: ")
    assert screen.question is not None
    assert (screen.question["text"], screen.question["sender"]) == ("Where are my keys?", "human")
    assert screen.done is not None
    assert screen.done["text"] == "In the hall."
    assert texts == ["In the hall.", "Where are my keys?"]


async def test_a_repeat_of_an_upload_is_written_down_and_asked_once_p22(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("In the hall.")) as model:
        deps = world.deps(model, transcriber=ScriptedTranscriber([WORDS]))
        first = await speak(deps)
        again = await speak(deps)
        texts = await list_texts(deps)

    assert again == first
    assert len(texts) == 2


async def test_a_process_that_dies_behind_the_text_costs_no_second_transcription_p22(
    world: ChatFixture,
) -> None:
    deps = world.deps(transcriber=ScriptedTranscriber([WORDS]))
    transcribed = await post(deps, TRANSCRIBE)
    with ScriptedModel(script_answer("In the hall.")) as model:
        screen = await speak(replace(deps, model=UnmaskedModels(model=model)))

    assert transcribed.json() == {"transcript": "Where are my keys?", "language": None}
    assert screen.text == "In the hall."


async def test_once_the_chat_has_the_text_it_is_kept_nowhere_else_p22(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("In the hall.")) as model:
        deps = world.deps(model, transcriber=ScriptedTranscriber([WORDS]))
        await speak(deps)

    assert await world.documents.query(Query(collection=f"users/{ADA}/idempotency")) == []


async def test_a_transcription_whose_process_died_is_made_again_after_its_lease_p22(
    world: ChatFixture,
) -> None:
    class Stuck(ScriptedTranscriber):
        async def transcribe(self, sound: bytes, **_: Any) -> Transcription:
            await anyio.sleep_forever()
            raise AssertionError

    deps = world.deps(transcriber=Stuck())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(post, deps, TRANSCRIBE)
        kept = Query(collection=f"users/{ADA}/idempotency")
        while not await world.documents.query(kept):
            await anyio.lowlevel.checkpoint()
        meanwhile = await post(deps, TRANSCRIBE)
        tasks.cancel_scope.cancel()
    world.clock.advance(seconds=181)
    later = await post(world.deps(transcriber=ScriptedTranscriber([WORDS])), TRANSCRIBE)

    assert (meanwhile.status_code, meanwhile.json()["detail"]) == (409, IN_PROGRESS)
    assert later.json()["transcript"] == "Where are my keys?"


async def test_another_user_who_sends_the_same_sound_has_it_written_down_anew_p22(
    world: ChatFixture,
) -> None:
    other_words = [("A", 0.0, 1.0, "Other words")]
    deps = world.deps(transcriber=ScriptedTranscriber([WORDS, other_words]))

    texts = [(await post(deps, TRANSCRIBE, uid=uid)).json()["transcript"] for uid in (ADA, EVE)]

    assert texts == ["Where are my keys?", "Other words"]


async def test_a_wav_is_written_down_in_the_language_that_the_app_names_p22(
    world: ChatFixture,
) -> None:
    asked = []

    class Listening(ScriptedTranscriber):
        async def transcribe(
            self,
            sound: bytes,
            *,
            language: str | None = None,
            voices: Sequence[Voice] = (),
            hint: str = "",
            is_draft: bool = False,
        ) -> Transcription:
            asked.append((language, sound == WAV))
            return Transcription(utterances=(), language="de")

    deps = world.deps(transcriber=Listening())
    for language in ("de", "pt-BR", "multi", ""):
        answer = await post(deps, TRANSCRIBE, WAV, data={"language": language})

        assert answer.json() == {"transcript": "", "language": "de"}
    assert asked == [("de", True), ("pt", True), (None, True)]


@pytest.mark.parametrize(
    ("content", "status", "text"),
    [
        (None, 422, NO_FILE),
        (b"", 422, NO_FILE),
        (b"no sound at all", 422, NO_SOUND),
        (bytes(MAX_VOICE_BYTES + 1), 413, TOO_LARGE),
        (build_tone(301), 413, TOO_LONG),
    ],
    ids=["no file", "an empty file", "no sound", "too large", "too long"],
)
async def test_what_cannot_be_written_down_is_refused_in_words_p22(
    world: ChatFixture, content: bytes | None, status: int, text: str
) -> None:
    deps = world.deps(transcriber=ScriptedTranscriber([]))
    answer = await post(deps, TRANSCRIBE, content)
    screen = await speak(deps, content)

    assert (answer.status_code, answer.json()["detail"]) == (status, text)
    assert (screen.question, screen.text) == (None, text)
    assert (await deps.quotas.load_usage(ADA, world.clock.now()))["sound_bytes"] == 0


@pytest.mark.parametrize(
    ("failure", "status", "text"),
    [
        (Unavailable("down"), 503, user_texts.VOICE_NOT_WRITTEN_DOWN),
        (ModelFailed("The key was refused.", reason="refused_key"), 502, "The key was refused."),
    ],
)
async def test_a_failed_transcription_says_so_costs_nothing_and_can_be_repeated_p22(
    world: ChatFixture, failure: Exception, status: int, text: str
) -> None:
    limits = {**EMBEDDED_LIMITS, "sound_bytes": len(SPEECH)}
    transcriber = ScriptedTranscriber([failure, failure, WORDS])
    deps = world.deps(transcriber=transcriber, quotas=limits)
    answer = await post(deps, TRANSCRIBE)
    screen = await speak(deps)
    later = await post(deps, TRANSCRIBE)

    assert (answer.status_code, answer.json()["detail"]) == (status, text)
    assert screen.text == text
    assert later.json()["transcript"] == "Where are my keys?"


async def test_without_a_transcriber_it_says_what_to_set_p22(world: ChatFixture) -> None:
    answer = await post(world.deps(), TRANSCRIBE)
    screen = await speak(world.deps())

    assert (answer.status_code, answer.json()["detail"]) == (503, NO_TRANSCRIBER)
    assert (screen.text, screen.question) == (NO_TRANSCRIBER, None)


async def test_where_nobody_speaks_nothing_is_asked_p22(world: ChatFixture) -> None:
    deps = world.deps(transcriber=ScriptedTranscriber([[]]))
    answer = await post(deps, TRANSCRIBE)
    screen = await speak(deps)

    assert answer.json() == {"transcript": "", "language": None}
    assert screen.text == user_texts.VOICE_NOT_HEARD


async def test_the_sound_of_a_day_is_limited_p22(world: ChatFixture) -> None:
    limits = {**EMBEDDED_LIMITS, "sound_bytes": len(SPEECH)}
    deps = world.deps(transcriber=ScriptedTranscriber([WORDS]), quotas=limits)
    first = await post(deps, TRANSCRIBE)
    repeat = await post(deps, TRANSCRIBE)
    second = await post(deps, TRANSCRIBE, name="another.bin")
    screen = await speak(deps, name="another.bin")

    assert (first.status_code, repeat.status_code, second.status_code) == (200, 200, 429)
    assert "of sound" in second.json()["detail"]
    assert screen.text == second.json()["detail"]


async def test_a_spoken_question_beyond_the_days_questions_is_kept_with_the_refusal_p22(
    world: ChatFixture,
) -> None:
    limits = {**EMBEDDED_LIMITS, "turns": 0}
    deps = world.deps(transcriber=ScriptedTranscriber([WORDS]), quotas=limits)
    screen = await speak(deps)
    texts = await list_texts(deps)

    assert "You used up today's 0 questions." in screen.text
    assert texts == [screen.text, "Where are my keys?"]


async def test_a_spoken_question_goes_to_the_chat_that_is_named_p22(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("In the hall.")) as model:
        deps = world.deps(model, transcriber=ScriptedTranscriber([WORDS]))
        async with open_chat(deps) as http:
            session_id = (await http.post("/v2/chat-sessions", json={})).json()["id"]
        screen = await speak(deps, chat_session_id=session_id)
        texts = await list_texts(deps, chat_session_id=session_id)
    unknown = await speak(
        world.deps(transcriber=ScriptedTranscriber([WORDS])), chat_session_id="none"
    )

    assert screen.text == "In the hall."
    assert texts == ["In the hall.", "Where are my keys?"]
    assert unknown.text == "Chat session not found"
