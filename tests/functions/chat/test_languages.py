"""Sentences of ours in the languages of people: complete, with the same slots, and used (P17, U8)."""

import calendar
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat import user_texts
from functions.chat.api.routes import ROUTES
from functions.chat.consent import call_words
from functions.chat.consent.consent_reply import parse_reply
from functions.chat.loop.confirmation import REASONS
from functions.chat.tools.details_tools import SHOWN
from functions.chat.tools.library_tools import UNTITLED
from functions.chat.tools.recall_tools import PAUSED, RESUMED
from functions.chat.tools.task_tools import (
    CHANGED,
    CREATED,
    DONE,
    DUE,
    EXISTS,
    FURTHER_TASKS,
    NEWEST_TASKS,
    NO_TASKS,
)
from functions.library.account.refused_calls import REFUSED
from functions.library.welcome.suggested_questions import (
    ABOUT_A_PERSON,
    ABOUT_ME,
    LAST_TALK,
    LAST_WEEK,
    NOT_PROCESSED,
    NOTHING_STORED,
    OPEN_TASKS,
)
from shared.domain.account.quota import NOUNS
from shared.domain.conversations.day_words import DAY_AND_TIME, describe_time
from shared.domain.models.model_failure import ADVICE, CAUSES
from shared.domain.provenance import LIBRARY
from shared.integrations import INTEGRATIONS, load_integration
from shared.languages import FOLDER, LANGUAGES, has_language, translate
from shared.safety import crisis_plan
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_tool_names import build_all_tools
from tests.functions.chat.test_versions import UI, ChatClient, open_chat

CATALOGS: dict[str, dict[str, str]] = {
    language: json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    for language in LANGUAGES
}
SLOT = re.compile(r"\{\w+\}")
SHOWN_RESULTS = {
    "Nothing was found.",
    "No file says anything about it.",
    "The manual says nothing about that.",
    "Your phone has sent no health figures.",
    "Your health figures",
}
"""What is shown instead of results that are for the model."""
SPOKEN_TOOLS = {"find_crisis_contacts"}
"""Those of voice sessions alone, where no status is shown."""


def is_text(name: str, text: object) -> bool:
    return name.isupper() and name[0] != "_" and isinstance(text, str)


def list_fixed_texts() -> Iterator[str]:
    yield from (text for name, text in vars(user_texts).items() if name.isupper())
    yield from (text for name, text in vars(call_words).items() if is_text(name, text))
    yield from (text for name, text in vars(crisis_plan).items() if is_text(name, text))
    yield from REASONS.values()
    yield from CAUSES.values()
    yield from (text for advice in ADVICE.values() for text in advice.values())
    yield from NOUNS.values()
    yield from (tool.status for key in INTEGRATIONS for tool in load_integration(key).tools)
    yield from SHOWN_RESULTS
    yield from REFUSED
    yield from (*calendar.day_name, *list(calendar.month_name)[1:], DAY_AND_TIME, UNTITLED)
    yield from (CHANGED, CREATED, DONE, DUE, EXISTS, NO_TASKS, PAUSED, RESUMED, SHOWN)
    yield from (NEWEST_TASKS, FURTHER_TASKS)
    yield from (
        OPEN_TASKS,
        ABOUT_ME,
        ABOUT_A_PERSON,
        LAST_TALK,
        LAST_WEEK,
        NOTHING_STORED,
        NOT_PROCESSED,
    )


def test_there_are_at_least_seven_languages_p17() -> None:
    assert {"de", "es", "fr", "ja", "pt", "zh"} <= set(LANGUAGES)
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalog_holds_what_is_said_and_nothing_else_p17(
    world: ChatFixture, language: str
) -> None:
    own_tools = [tool for tool in build_all_tools(world) if tool.source == LIBRARY]
    statuses = {tool.status for tool in own_tools if tool.spec.name not in SPOKEN_TOOLS}
    needed = {*list_fixed_texts(), *statuses} - {user_texts.STORE_DOWN}

    catalog = CATALOGS[language]

    assert set(catalog) == needed - {user_texts.REALTIME_DOWN}
    assert {
        text
        for text in catalog
        if sorted(SLOT.findall(text)) != sorted(SLOT.findall(catalog[text]))
    } == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", [user_texts.REPLY_ALWAYS, user_texts.REPLY_ONCE])
def test_the_words_that_a_question_asks_for_are_understood_as_replies_p17(
    language: str, text: str
) -> None:
    words = re.findall(r"\w+", translate(text, language))
    replies = {parse_reply(word) for word in words}

    assert {"yes", "no"} <= replies
    assert ("always" in replies) is (text == user_texts.REPLY_ALWAYS)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", "Fragen"),
        ("de-AT", "Fragen"),
        ("DE_ch", "Fragen"),
        ("xx", "questions"),
        (None, "questions"),
        ("", "questions"),
        ("../de", "questions"),
    ],
)
def test_a_region_and_an_unknown_language_do_no_harm_p17(
    language: str | None, expected: str
) -> None:
    assert translate("questions", language) == expected
    assert has_language(language) is (expected == "Fragen")


@given(st.text(), st.text(), st.sampled_from([*LANGUAGES, "en"]))
def test_names_of_others_stay_as_they_are_in_every_language_p17(
    tool: str, source: str, language: str
) -> None:
    text = translate(user_texts.CALL_SKIPPED, language, tool=tool, source=source)

    assert tool in text
    assert source in text


async def set_language(chat: ChatClient, language: str) -> None:
    await chat.http.patch("/v1/users/profile", json={"language": language})


async def test_steps_and_notices_of_an_answer_are_in_the_owners_language_p32(
    world: ChatFixture,
) -> None:
    search = script_calls(("search_conversations", {"query": "Lissabon"}))
    with ScriptedModel(search, script_answer("")) as model:
        async with open_chat(world, model) as chat:
            await set_language(chat, "de-DE")
            streamed = (await chat.ask("Was mag Ann?")).text
            [*_, answer] = await chat.list_shown(**UI)

    assert '"Gespräche werden durchsucht"' in streamed
    assert answer["text"] == "Darauf habe ich keine Antwort. Kannst du es anders fragen?"
    assert answer["metadata"]["parts"][0]["output"] == "Es wurde nichts gefunden."


async def test_a_chat_begins_with_a_greeting_in_the_owners_language_p17(
    world: ChatFixture,
) -> None:
    async with open_chat(world, ScriptedModel()) as chat:
        await chat.http.patch("/v1/users/profile", json={"name": "Ada"})
        await set_language(chat, "fr")
        [greeting] = await chat.list_shown()

    assert greeting["text"].startswith("Bonjour Ada ! Ici Keepsake. Demande-moi ce qui a été dit")


async def test_a_used_up_quota_is_said_in_the_owners_language_and_zone_p17(
    world: ChatFixture,
) -> None:
    with ScriptedModel() as model:
        deps = world.deps(model, quotas={"turns": 0})
        async with open_client("chat", ROUTES, deps, build_auth_headers(ADA)) as http:
            profile = {"language": "es", "time_zone": "Europe/Madrid"}
            await http.patch("/v1/users/profile", json=profile)
            await http.post("/v2/messages", json={"text": "¿Qué?"})
            answer = (await http.get("/v2/messages")).json()[0]

    assert answer["text"] == (
        "Has alcanzado el límite de hoy: 0 preguntas. Continúa el martes, 3 de marzo de 2026, 01:00."
    )


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (None, "Friday 6 March 2026 at 00:30"),
        ("de", "Freitag, 6. März 2026 um 00:30 Uhr"),
        ("es", "viernes, 6 de marzo de 2026, 00:30"),
        ("fr", "vendredi 6 mars 2026 à 00:30"),
        ("ja", "2026年3月6日（金曜日）00:30"),
        ("pt-BR", "sexta-feira, 6 de março de 2026, 00:30"),
        ("zh", "2026年3月6日星期五 00:30"),
    ],
)
def test_a_day_is_said_in_the_owners_language_and_zone_p32(
    language: str | None, expected: str
) -> None:
    time = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)

    assert describe_time(time, ZoneInfo("Europe/Berlin"), language) == expected


async def test_found_conversations_are_shown_in_the_owners_language_p32(
    world: ChatFixture,
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann mag Lissabon."))
    search = script_calls(("search_conversations", {"query": "Lissabon"}))
    with ScriptedModel(search, script_answer("Lissabon")) as model:
        async with open_chat(world, model) as chat:
            await set_language(chat, "de")
            await chat.ask("Was mag Ann?")
            [*_, answer] = await chat.list_shown(**UI)

    assert re.search(r" um \d\d:\d\d Uhr$", answer["metadata"]["parts"][0]["output"])


async def test_a_created_task_is_shown_in_the_owners_language_p32(world: ChatFixture) -> None:
    task = {"description": "Ann {anrufen}", "due_at": "2026-03-09T19:00:00Z"}
    create = script_calls(("create_action_item", task))
    with ScriptedModel(create, script_answer("Gut")) as model:
        async with open_chat(world, model) as chat:
            await set_language(chat, "de")
            await chat.ask("Erinnere mich an Ann")
            [*_, answer] = await chat.list_shown(**UI)

    assert answer["metadata"]["parts"][0]["output"] == (
        "Angelegt:\n- Ann {anrufen}, fällig Montag, 9. März 2026 um 19:00 Uhr"
    )
