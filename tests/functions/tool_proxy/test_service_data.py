"""Data of connected services: what models read of it, and what clients are shown (M111, M112)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from shared.domain.apps.connection import Service
from shared.domain.apps.tool_data import ToolData, to_compact_json
from shared.integrations.service import MAX_TEXT_CHARS, build_listing
from tests.fixtures.accounts import AccountsFixture, open_accounts_fixture
from tests.fixtures.chat import ADA
from tests.recorded import recorded
from tests.servers.provider import FakeProvider

MAIL_ID = "18e1f0a1b2c3d4e5"
EVENTS = "/calendar/v3/calendars/primary/events"
ANSWERS = {
    "GET /search/issues": "github/pulls",
    "POST /v1/search": "notion/search",
    "POST /chat/completions": "perplexity/completion",
    f"GET {EVENTS}": "google_calendar/events",
    "GET /gmail/v1/users/me/messages": "gmail/messages",
    f"GET /gmail/v1/users/me/messages/{MAIL_ID}": "gmail/metadata",
    "GET /developer/v2/activity/sleep": "whoop/sleep",
    "GET /developer/v2/recovery": "whoop/recovery",
    "GET /developer/v2/activity/workout": "whoop/workouts",
    "GET /2/tweets/search/recent": "x/search",
}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[AccountsFixture]:
    answers = {place: [(200, recorded(name))] for place, name in ANSWERS.items()}
    async with open_accounts_fixture(tmp_path, FakeProvider(answers=answers)) as world:
        yield world


async def call(world: AccountsFixture, service: Service, tool: str, **arguments: Any) -> ToolData:
    return await world.toolbox.call_service(ADA, service, tool, arguments, call_id="c1")


async def test_events_are_data_and_their_links_are_for_clients_alone_m112(
    world: AccountsFixture,
) -> None:
    await world.connect("google_calendar")

    data = await call(world, "google_calendar", "get_calendar_events")

    first = data.content["events"][0]
    assert data.entry_type == "event"
    assert first["title"] == "Sync with Grace"
    assert first["start"] == "2026-03-03T09:00:00+00:00"
    assert first["attendees"] == "ada@example.com, grace@example.com"
    assert first["url"].startswith("https://www.google.com/calendar/")
    assert "google.com/calendar" not in data.visible_text
    assert first["event_id"] in data.visible_text


async def test_pull_requests_are_data_m111(world: AccountsFixture) -> None:
    await world.connect("github")

    data = await call(world, "github", "get_github_pull_requests", state="all")

    assert [pull["state"] for pull in data.content["pull_requests"]] == ["open", "draft", "merged"]
    assert data.entry_type == "website"
    assert data.shown_text.startswith("3 of 3 pull requests:")


async def test_mails_are_data_m111(world: AccountsFixture) -> None:
    await world.connect("gmail")

    data = await call(world, "gmail", "get_gmail_messages")

    [mail] = data.content["mails"]
    assert mail == {
        "from": "Ann Lee <ann@example.com>",
        "date": "2026-03-02T07:15:00+00:00",
        "subject": "Lisbon: trains and beds",
        "snippet": "The train leaves at 7:40. I booked beds for both of us &amp; Kay.",
        "message_id": MAIL_ID,
    }
    assert data.shown_text.startswith("1 mails:")


@pytest.mark.parametrize(
    ("tool", "name", "first"),
    [
        (
            "get_whoop_sleep",
            "sleep",
            {"kind": "Night", "asleep": "7 h 21 min", "REM": "1 h 22 min"},
        ),
        ("get_whoop_recovery", "recoveries", {"recovery": "44 %", "HRV": "31.8 ms"}),
        ("get_whoop_workouts", "workouts", {"sport": "running", "strain": "8.2"}),
    ],
)
async def test_records_of_whoop_are_data_with_the_same_fields_each_m111(
    world: AccountsFixture, tool: str, name: str, first: dict[str, str]
) -> None:
    await world.connect("whoop")

    data = await call(world, "whoop", tool)

    records = data.content[name]
    assert first.items() <= records[0].items()
    assert len({tuple(record) for record in records}) == 1


async def test_posts_of_x_are_data_m111(world: AccountsFixture) -> None:
    await world.connect("x")

    data = await call(world, "x", "search_x_posts", query="engines")

    [post] = data.content["posts"]
    assert post["author"] == "@cbabbage"
    assert post["url"].startswith("https://x.com/i/status/")
    assert all(isinstance(post[count], int) for count in ("likes", "reposts", "replies"))


async def test_pages_of_notion_are_data_m111(world: AccountsFixture) -> None:
    await world.connect("notion")

    data = await call(world, "notion", "search_notion", query="train")

    results = data.content["results"]
    assert all(each["url"].startswith("https://") and each["title"] for each in results)
    assert f"{len(results)} results:" in data.shown_text
    assert data.entry_type == "website"


async def test_a_web_search_is_an_answer_with_its_pages_m112(world: AccountsFixture) -> None:
    world.provider.access_tokens.add(world.services.clients["perplexity"].secret)

    data = await call(world, "perplexity", "perplexity_web_search", query="trains")

    assert data.content["sources"] == [
        {
            "title": "CP | Trains of Portugal",
            "url": "https://www.cp.pt/en",
            "date": "2026-02-01",
            "snippet": "…",
        }
    ]
    assert data.content["answer"] == "The first train to Lisbon leaves Porto at 5:47."
    assert "https://www.cp.pt/en" in data.visible_text
    assert "2026-02-01" not in data.visible_text


def test_a_listing_keeps_what_fits_and_counts_the_rest_m111() -> None:
    entries = [{"n": n, "text": "x" * 900} for n in range(50)]

    data = build_listing("50", "rows", entries, entry_type="record")

    kept = data.content["rows"]
    assert kept == entries[: len(kept)]
    assert data.content["left_out"] == 50 - len(kept)
    assert 0.9 * MAX_TEXT_CHARS < len(to_compact_json(data.content)) < 1.1 * MAX_TEXT_CHARS
