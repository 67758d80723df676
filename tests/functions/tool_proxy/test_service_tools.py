"""P7: Gmail, Whoop, Notion, X, GitHub and Perplexity, against servers that answer as they do."""

import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from functions.tool_proxy.calls.call_routes import ROUTES as CALL_ROUTES
from functions.tool_proxy.calls.service_routes import ROUTES as SERVICE_ROUTES
from shared.domain.apps.connection import Service
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.ids import UserId
from shared.integrations import INTEGRATIONS, load_integration
from tests.fixtures.accounts import ADA, AccountsFixture, open_accounts_fixture
from tests.fixtures.callers import build_auth_headers, open_client
from tests.recorded import recorded
from tests.servers.provider import PROVIDER_OPTIONS, FakeProvider

MAIL = "/gmail/v1/users/me/messages"
WHOOP = "/developer/v2"
ANN, HTML = "18e1f0a1b2c3d4e5", "18e1e9ffeeddccbb"
ANSWERS = {
    f"GET {MAIL}": "gmail/messages",
    f"GET {MAIL}/{ANN}": "gmail/metadata",
    f"GET {WHOOP}/activity/sleep": "whoop/sleep",
    f"GET {WHOOP}/recovery": "whoop/recovery",
    f"GET {WHOOP}/activity/workout": "whoop/workouts",
    "POST /v1/search": "notion/search",
    "GET /2/users/me": "x/me",
    "GET /2/users/2244994945/tweets": "x/tweets",
    "GET /2/tweets/search/recent": "x/search",
    "GET /search/issues": "github/pulls",
    "POST /chat/completions": "perplexity/completion",
}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[AccountsFixture]:
    answers = {place: [(200, recorded(name))] for place, name in ANSWERS.items()}
    async with open_accounts_fixture(tmp_path, FakeProvider(answers=answers)) as world:
        yield world


async def connect_and_call(
    world: AccountsFixture, service: Service, tool: str, /, **arguments: Any
) -> str:
    await world.connect(service)
    return await world.call(service, tool, **arguments)


async def test_gmail_lists_mails_with_sender_date_subject_and_id_p7(world: AccountsFixture):
    text = await connect_and_call(
        world, "gmail", "get_gmail_messages", query="from:ann trains & beds", label="INBOX"
    )

    request = world.provider.requests[0]
    assert request.query == {
        "maxResults": "10",
        "q": "from:ann trains & beds",
        "labelIds": "INBOX",
    }
    assert text == (
        "1 mails:\n"
        "1. From: Ann Lee <ann@example.com>\n"
        "   Date: 2026-03-02T07:15:00+00:00\n"
        "   Subject: Lisbon: trains and beds\n"
        "   The train leaves at 7:40. I booked beds for both of us &amp; Kay.\n"
        f"   message_id {ANN}"
    )  # the other was deleted meanwhile


async def test_gmail_reads_the_plain_text_of_a_mail_p7(world: AccountsFixture):
    world.provider.answers[f"GET {MAIL}/{ANN}"] = [(200, recorded("gmail/full"))]

    text = await connect_and_call(world, "gmail", "read_gmail_message", message_id=ANN)

    assert world.provider.requests[0].query == {"format": "full"}
    assert text == (
        "From: Ann Lee <ann@example.com>\n"
        "Date: 2026-03-02T07:15:00+00:00\n"
        "Subject: Lisbon: trains and beds\n\n"
        "Hi Ada,\r\n\r\nthe train leaves at 7:40. I booked beds for both of us & Kay.\r\n\r\nAnn"
    )


async def test_gmail_reads_the_text_of_an_html_only_mail_p7(world: AccountsFixture):
    world.provider.answers[f"GET {MAIL}/{HTML}"] = [(200, recorded("gmail/html"))]

    text = await connect_and_call(world, "gmail", "read_gmail_message", message_id=HTML)

    assert text.endswith("\n\nHi Ada,\nthe train leaves at 7:40.")


@pytest.mark.parametrize("markup", ["<![a[", "<![if !mso]>" * 3 + "<![ x"])
async def test_invalid_markup_does_not_hide_the_text_before_it_p7(
    world: AccountsFixture, markup: str
):
    html = f"<p>The train leaves at 7:40.</p>{markup}"
    mail = recorded("gmail/html")
    mail["payload"] = {
        "mimeType": "text/html",
        "body": {"data": urlsafe_b64encode(html.encode()).decode()},
    }
    world.provider.answers[f"GET {MAIL}/{HTML}"] = [(200, mail)]

    text = await connect_and_call(world, "gmail", "read_gmail_message", message_id=HTML)

    assert "The train leaves at 7:40." in text


@pytest.mark.parametrize(
    ("data", "body"),
    [
        ("!!!", "(no text)"),
        (urlsafe_b64encode(b"\xff\xfe").decode(), "\ufffd\ufffd"),
        (urlsafe_b64encode("a\u200b\U000e0041b".encode()).decode(), "ab"),
        (urlsafe_b64encode(b"x" * 20_000).decode(), "x\n… 8000 characters left out …"),
    ],
)
async def test_the_text_of_a_mail_is_truncated_and_stripped_of_invisible_characters_p7(
    world: AccountsFixture, data: str, body: str
):
    mail = recorded("gmail/full")
    mail["payload"]["parts"][0]["parts"][0]["body"]["data"] = data
    world.provider.answers[f"GET {MAIL}/{ANN}"] = [(200, mail)]

    text = await connect_and_call(world, "gmail", "read_gmail_message", message_id=ANN)

    assert text.endswith(body)
    assert len(text) < 13_000


async def test_reading_a_deleted_mail_fails_the_tool_p7(world: AccountsFixture):
    with pytest.raises(ToolFailed, match=r"^Gmail did not find it\.$"):
        await connect_and_call(world, "gmail", "read_gmail_message", message_id="18e1")


async def test_whoop_lists_sleep_p7(world: AccountsFixture):
    text = await connect_and_call(world, "whoop", "get_whoop_sleep")

    [request] = world.provider.requests
    assert request.query == {"start": "2026-02-23T12:00:00+00:00", "limit": "7"}
    assert text == (
        "2 nights and naps:\n"
        "- Night 2026-03-01T22:25:44+00:00 to 2026-03-02T06:10:44+00:00: asleep 7 h 21 min,"
        " light 4 h 08 min, deep 1 h 50 min, REM 1 h 22 min, performance 98 %,"
        " efficiency 91.7 %, breaths 16.1 a minute\n"
        "- Nap 2026-03-01T12:25:44+00:00 to 2026-03-01T12:50:44+00:00: not scored yet"
    )


async def test_whoop_lists_recovery_p7(world: AccountsFixture):
    text = await connect_and_call(
        world,
        "whoop",
        "get_whoop_recovery",
        start_date="2026-03-01T00:00:00+01:00",
        end_date="2026-03-03T00:00:00+01:00",
        limit=25,
    )

    assert world.provider.requests[0].query == {
        "start": "2026-02-28T23:00:00+00:00",
        "end": "2026-03-02T23:00:00+00:00",
        "limit": "25",
    }
    assert text == (
        "1 recoveries:\n- 2026-03-02T06:25:44+00:00: recovery 44 %, resting heart rate 64 bpm,"
        " HRV 31.8 ms, blood oxygen 95.7 %"
    )


async def test_whoop_lists_workouts_p7(world: AccountsFixture):
    text = await connect_and_call(world, "whoop", "get_whoop_workouts")

    assert text == (
        "1 workouts:\n- running 2026-03-01T10:25:44+00:00 to 2026-03-01T11:10:44+00:00: strain 8.2,"
        " average heart rate 123 bpm, highest heart rate 146 bpm, energy 1569.3 kJ,"
        " distance 1772.8 m"
    )


async def test_notion_finds_pages_and_databases_by_title_p7(world: AccountsFixture):
    text = await connect_and_call(world, "notion", "search_notion", query="kale", limit=5)

    [request] = world.provider.requests
    assert request.headers["notion-version"] == "2022-06-28"
    assert request.body == {
        "query": "kale",
        "page_size": 5,
        "sort": {"direction": "descending", "timestamp": "last_edited_time"},
    }
    assert text == (
        "2 results:\n"
        "1. Tuscan kale (page)\n"
        "   edited 2026-03-01T19:30:00+00:00\n"
        "   https://www.notion.so/Tuscan-kale-954b67f93f8741db887423b92bbd31ee\n"
        "2. Grocery list (database)\n"
        "   edited 2026-02-08T23:50:00+00:00\n"
        "   https://www.notion.so/bc1211cae3f14939ae34260b16f627c"
    )


async def test_x_lists_the_owners_posts_p7(world: AccountsFixture):
    text = await connect_and_call(world, "x", "get_x_posts", limit=1)

    assert world.provider.requests[1].query["max_results"] == "5"
    assert text == (
        "1 posts:\n1. @ada 2026-03-01T18:00:00+00:00: Shipping day. Thanks to all!\n"
        "   7 likes, 2 reposts, 1 replies, https://x.com/i/status/1896000000000000001"
    )


async def test_x_searches_recent_posts_of_all_users_p7(world: AccountsFixture):
    text = await connect_and_call(world, "x", "search_x_posts", query="engines -is:retweet")

    [request] = world.provider.requests
    assert request.query["query"] == "engines -is:retweet"
    assert request.query["max_results"] == "10"
    assert text.startswith("1 posts:\n1. @cbabbage 2026-03-01T20:00:00+00:00: Analytical engines")


async def test_x_says_that_there_are_no_posts_p7(world: AccountsFixture):
    world.provider.answers["GET /2/tweets/search/recent"] = [(200, recorded("x/no_tweets"))]

    assert (
        await connect_and_call(world, "x", "search_x_posts", query="y")
        == "There are no such posts."
    )


async def test_github_lists_the_owners_pull_requests_with_their_state_p7(world: AccountsFixture):
    text = await connect_and_call(
        world, "github", "get_github_pull_requests", state="all", repository="ada/engine"
    )

    [request] = world.provider.requests
    assert request.query["q"] == "is:pr author:@me repo:ada/engine"
    assert request.headers["accept"] == "application/vnd.github+json"
    assert text == (
        "3 of 3 pull requests:\n"
        "1. Carry the one (#12, open, by ada)\n"
        "   changed 2026-03-01T10:00:00+00:00, https://github.com/ada/engine/pull/12\n"
        "2. Try brass wheels (#11, draft, by ada)\n"
        "   changed 2026-03-01T10:00:00+00:00, https://github.com/ada/engine/pull/11\n"
        "3. Divide (#9, merged, by ada)\n"
        "   changed 2026-03-01T10:00:00+00:00, https://github.com/ada/engine/pull/9"
    )


async def test_github_lists_the_owners_issues_p7(world: AccountsFixture):
    world.provider.answers["GET /search/issues"] = [(200, recorded("github/issues"))]

    text = await connect_and_call(world, "github", "get_github_issues", role="assigned")

    assert world.provider.requests[0].query["q"] == "is:issue assignee:@me is:open"
    assert text.startswith(
        "1 of 1 issues:\n1. Bernoulli numbers are off by one (#4, open, by nobody)"
    )


async def test_a_repository_name_cannot_inject_search_terms_p7(world: AccountsFixture):
    with pytest.raises(ToolRefused, match="repository"):
        await connect_and_call(
            world, "github", "get_github_issues", repository="ada/engine author:eve"
        )


async def test_web_search_uses_our_own_api_key_p7(world: AccountsFixture):
    world.provider.access_tokens.add(world.services.clients["perplexity"].secret)

    text = await world.call("perplexity", "perplexity_web_search", query="trains to Lisbon")

    [request] = world.provider.requests
    assert request.body == {
        "model": "sonar-pro",
        "messages": [{"role": "user", "content": "trains to Lisbon"}],
    }
    assert text == (
        "The first train to Lisbon leaves Porto at 5:47.\n\n"
        "Sources:\n- CP | Trains of Portugal https://www.cp.pt/en"
    )


async def test_a_web_search_that_is_not_set_up_fails_the_tool_p7(world: AccountsFixture):
    del world.services.clients["perplexity"]  # type: ignore[attr-defined]

    with pytest.raises(ToolFailed, match="cannot be reached"):
        await world.call("perplexity", "perplexity_web_search", query="x")


@pytest.mark.parametrize("name", PROVIDER_OPTIONS)
async def test_a_refused_token_asks_the_user_to_reconnect_p7(tmp_path: Path, name: Service):
    service = load_integration(name)
    arguments = {"query": "x"} if name == "notion" else {}
    sentence = f"^Your {service.label} connection has expired. Reconnect it in the settings.$"
    async with open_accounts_fixture(tmp_path, FakeProvider(**PROVIDER_OPTIONS[name])) as world:
        await world.connect(name)
        world.provider.access_tokens.clear()
        world.provider.refresh_tokens.clear()

        with pytest.raises(ToolFailed, match=sentence):
            await world.call(name, service.tools[0].name, **arguments)


def test_every_connectable_service_is_covered():
    assert {
        name for name in INTEGRATIONS if load_integration(name).connection
    } == PROVIDER_OPTIONS.keys()


@pytest.mark.parametrize("name", INTEGRATIONS)
def test_only_the_calendar_is_written_p6_p7(name: Service):
    writing_tools = {
        tool.name for tool in load_integration(name).tools if tool.tool_class != "read"
    }

    expected = {"create_calendar_event", "update_calendar_event", "delete_calendar_event"}
    assert writing_tools == (expected if name == "google_calendar" else set())


async def test_service_calls_need_a_service_token(world: AccountsFixture):
    await world.connect("github")
    async with open_client("tool_proxy", (*CALL_ROUTES, *SERVICE_ROUTES), world.deps) as client:
        for path in ("/services", "/services/disconnect"):
            for headers in ({}, build_auth_headers(ADA)):
                answer = await client.post(path, json={"uid": ADA}, headers=headers)
                assert answer.status_code == 401

    assert await world.services.stores.connections.get(ADA, "github") is not None


async def test_a_user_cannot_call_the_connected_service_of_another(world: AccountsFixture):
    await world.connect("github")

    with pytest.raises(ToolFailed, match="is not connected"):
        await world.toolbox.call_service(
            UserId("eve"), "github", "get_github_issues", {}, call_id="c1"
        )

    assert json.dumps(world.requests) == "[]"
