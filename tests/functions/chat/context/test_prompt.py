"""The prompt of a turn (P18, X2)."""

from dataclasses import replace
from datetime import UTC, datetime

from functions.chat.context.prompt import build_prompt
from shared import prompts
from shared.domain.app import App
from shared.domain.ids import AppId, UserId
from shared.domain.model import SystemText, UserText
from shared.domain.profile import Profile

NOW = datetime(2026, 3, 2, 12, 0, 5, 999, tzinfo=UTC)
BERLIN = Profile(name="Ada", time_zone="Europe/Berlin")
APP = App(
    id=AppId("APP1"), owner=UserId("dev"), name="Chess", created_at=NOW, description="Plays chess"
)


def test_stable_text_comes_first_and_the_time_in_the_last_message_p18() -> None:
    messages = build_prompt("Hello", history=[], profile=BERLIN, app=None, now=NOW)

    assert messages == [
        SystemText(text=prompts.render("chat/system")),
        UserText(
            text="<context>\n"
            "Current time: 2026-03-02T13:00:05+01:00 (Europe/Berlin)\n"
            "The owner's name: Ada\n"
            "</context>\n\nHello"
        ),
    ]


def test_the_system_prompt_names_its_five_parts_p18() -> None:
    system = prompts.render("chat/system")

    for part in ("ISO 8601 with an offset", "\n5. Answer", "[1][2]", "# Memories", "# When to use"):
        assert part in system


def test_a_persona_speaks_with_its_own_prompt_p1() -> None:
    persona = replace(APP, persona_prompt="You are Ada Lovelace.")

    messages = build_prompt("Hello", history=[], profile=Profile(), app=persona, now=NOW)

    assert messages[0] == SystemText(text="You are Ada Lovelace.")


def test_an_ordinary_app_is_named_as_data() -> None:
    messages = build_prompt("Hello", history=[], profile=Profile(), app=APP, now=NOW)

    assert "This chat belongs to the app 'Chess': 'Plays chess'" in messages[-1].text
    assert messages[0] == SystemText(text=prompts.render("chat/system"))
