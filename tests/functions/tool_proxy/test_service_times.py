"""Times of connected services are those of the owner's clock (I2)."""

import re
from pathlib import Path

import pytest

from shared.domain.apps.connection import Service
from tests.fixtures.accounts import ADA, open_accounts_fixture
from tests.recorded import recorded
from tests.servers.provider import FakeProvider

MAIL_ID = "18e1f0a1b2c3d4e5"
ANSWERS = {
    "GET /search/issues": "github/pulls",
    "POST /v1/search": "notion/search",
    "GET /calendar/v3/calendars/primary/events": "google_calendar/events",
    "GET /gmail/v1/users/me/messages": "gmail/messages",
    f"GET /gmail/v1/users/me/messages/{MAIL_ID}": "gmail/metadata",
    "GET /developer/v2/activity/sleep": "whoop/sleep",
    "GET /2/tweets/search/recent": "x/search",
}


@pytest.mark.parametrize(
    ("service", "tool", "arguments", "times"),
    [
        (
            "whoop",
            "get_whoop_sleep",
            {},
            [
                "2026-03-01T14:25:44-08:00",
                "2026-03-01T22:10:44-08:00",
                "2026-03-01T04:25:44-08:00",
                "2026-03-01T04:50:44-08:00",
            ],
        ),
        ("gmail", "get_gmail_messages", {}, ["2026-03-01T23:15:00-08:00"]),
        ("github", "get_github_pull_requests", {}, ["2026-03-01T02:00:00-08:00"] * 3),
        (
            "notion",
            "search_notion",
            {"query": "x"},
            ["2026-03-01T11:30:00-08:00", "2026-02-08T15:50:00-08:00"],
        ),
        ("x", "search_x_posts", {"query": "x"}, ["2026-03-01T12:00:00-08:00"]),
        (
            "google_calendar",
            "get_calendar_events",
            {},
            [
                "2026-03-03T01:00:00-08:00",
                "2026-03-03T01:30:00-08:00",
                "2026-03-10T02:00:00-07:00",  # the clocks changed on the 8th
                "2026-03-10T02:30:00-07:00",
            ],
        ),
    ],
)
async def test_times_of_services_are_those_of_the_owners_clock_i2(
    tmp_path: Path, service: Service, tool: str, arguments: dict[str, str], times: list[str]
) -> None:
    answers = {place: [(200, recorded(name))] for place, name in ANSWERS.items()}
    async with open_accounts_fixture(tmp_path, FakeProvider(answers=answers)) as world:
        await world.services.stores.profiles.change(ADA, time_zone="America/Los_Angeles")
        await world.connect(service)

        text = await world.call(service, tool, **arguments)

    assert re.findall(r"\d{4}-\d\d-\d\dT\S+?(?=[,:]?(?: |$))", text, re.MULTILINE) == times
