"""T12: what an app is answered, with the exact texts and in the order of the checks."""

from typing import Any

import pytest

from shared.domain.documents import Delete, Update
from tests.functions.notifications.world import ALICE, KEY, WEATHER, World, signed_in

PATH = "/v1/integrations/notification"
NO_KEY = "Missing or invalid Authorization header. Must be 'Bearer API_KEY'"


async def test_a_notification_is_taken_and_says_what_is_left_of_the_hour(world: World):
    await world.register()

    response = await world.post()

    assert (response.status_code, response.json()) == (200, {"status": "Ok"})
    assert {name: response.headers[name] for name in LIMIT_HEADERS} == {
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "9",
        "X-RateLimit-Reset": "1200",
        "RateLimit-Policy": '"app";q=10;w=3600',
        "RateLimit": '"app";r=9;t=1200',
    }


LIMIT_HEADERS = (
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
)


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"aid": None, "uid": None}, 400, "aid (app id) in request body is required"),
        ({"aid": ""}, 400, "aid (app id) in request body is required"),
        ({"uid": None, "message": None}, 400, "uid is required"),
        ({"message": None, "key": "wrong"}, 400, "message is required"),
        ({"message": " \n"}, 400, "message is required"),
        ({"message": "\u200b \u202e"}, 400, "message is required"),
        ({"key": "", "uid": "bob"}, 401, NO_KEY),
        ({"key": "sk_wrong", "uid": "bob"}, 403, "Invalid API key"),
        ({"aid": "unknown"}, 403, "Invalid API key"),
        ({"aid": "weather/api_keys/k1"}, 403, "Invalid API key"),
        ({"uid": "bob"}, 403, "User does not have this app installed"),
        ({"uid": "alice/messages/m1"}, 403, "User does not have this app installed"),
        ({"message": "x" * 4001}, 413, "message is too long. Maximum 4000 characters."),
    ],
)
async def test_a_refusal_names_the_first_thing_that_is_wrong(
    world: World, changes: dict[str, Any], status: int, detail: str
):
    await world.register()

    response = await world.post(**changes)

    assert (response.status_code, response.json()["detail"]) == (status, detail)
    assert response.headers["content-type"] == "application/problem+json"
    assert (await world.post()).headers["X-RateLimit-Remaining"] == "9"


async def test_an_app_that_became_private_reaches_no_other_user(world: World):
    await world.register()
    await world.documents.write(Update(f"apps/{WEATHER}", {"private": True}))

    assert (await world.post()).status_code == 403


@pytest.mark.parametrize("header", [{}, {"Authorization": KEY}, {"Authorization": "Basic abc"}])
async def test_a_header_that_is_no_bearer_is_401(world: World, header: dict[str, str]):
    await world.register()
    body = {"aid": WEATHER, "uid": ALICE, "message": "Rain."}

    response = await world.request("POST", PATH, json=body, headers=header)

    assert (response.status_code, response.json()["detail"]) == (401, NO_KEY)


async def test_a_key_works_without_its_prefix(world: World):
    await world.register()

    response = await world.post(key=KEY.removeprefix("sk_"))

    assert response.status_code == 200


async def test_a_deleted_app_whose_key_is_left_is_not_found(world: World):
    await world.register()
    await world.documents.write(Delete(f"apps/{WEATHER}"))

    response = await world.post()

    assert (response.status_code, response.json()["detail"]) == (404, "App not found")


@pytest.mark.parametrize("body", [b'{"aid": "weather"', b"\xff", b""])
async def test_a_body_that_is_no_json_is_400(world: World, body: bytes):
    response = await world.request(
        "POST", PATH, content=body, headers={"Content-Type": "application/json"}
    )

    assert response.status_code == 400


@pytest.mark.parametrize("body", [[], "weather", {"aid": 5}, {"aid": "a", "message": {"a": 1}}])
async def test_a_body_of_another_shape_is_422(world: World, body: object):
    response = await world.request("POST", PATH, json=body)

    assert response.status_code == 422


async def test_the_eleventh_in_an_hour_is_refused_until_the_hour_ends(world: World):
    """T14."""
    await world.register()
    for _ in range(10):
        assert (await world.post()).status_code == 200

    refused = await world.post()
    world.clock.pass_(seconds=1200)
    taken = await world.post()

    assert refused.status_code == 429
    assert refused.json() == {
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "Rate limit exceeded. Maximum 10 notifications per hour.",
        "violated-policies": ["app"],
    }
    assert {name: refused.headers[name] for name in ("Retry-After", *LIMIT_HEADERS)} == {
        "Retry-After": "1200",
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1200",
        "RateLimit-Policy": '"app";q=10;w=3600',
        "RateLimit": '"app";r=0;t=1200',
    }
    assert (taken.status_code, taken.headers["X-RateLimit-Remaining"]) == (200, "9")


async def test_the_second_version_takes_a_query_and_never_writes_into_the_chat(world: World):
    await world.register(chat_messages_enabled=True)

    response = await world.request(
        "POST",
        "/v2/integrations/weather/notification",
        params={"uid": ALICE, "message": "Rain at five."},
        headers={"Authorization": f"Bearer {KEY}"},
    )
    await world.deliver()

    assert (response.status_code, response.json()) == (200, {"status": "Ok"})
    assert response.headers["X-RateLimit-Remaining"] == "9"
    assert await world.chat("weather") == []
    assert [message.body for _, message in world.push.sent] == ["Rain at five."]


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ({"message": "Rain."}, 400, "uid is required"),
        ({"uid": "alice"}, 400, "message is required"),
        ({"uid": "bob", "message": "Rain."}, 403, "User does not have this app installed"),
    ],
)
async def test_the_second_version_checks_the_same(
    world: World, query: dict[str, str], status: int, detail: str
):
    await world.register()

    response = await world.request(
        "POST",
        "/v2/integrations/weather/notification",
        params=query,
        headers={"Authorization": f"Bearer {KEY}"},
    )

    assert (response.status_code, response.json()["detail"]) == (status, detail)


async def test_the_inbox_shows_at_once_what_came_newest_first_page_by_page(world: World):
    await world.register()
    for text in ("first", "second", "third"):
        await world.post(message=text)
        world.clock.pass_(seconds=1)

    page = await world.inbox(limit=2)
    rest = await world.inbox(limit=2, cursor=page["next_cursor"])

    assert [item["body"] for item in page["items"]] == ["third", "second"]
    assert [item["body"] for item in rest["items"]] == ["first"]
    assert rest["next_cursor"] is None


async def test_an_inbox_is_its_owners(world: World):
    await world.register()
    await world.post()
    await world.deliver()
    item_id = (await world.inbox())["items"][0]["id"]

    response = await world.request(
        "POST", f"/v1/inbox/{item_id}/read", headers=signed_in("mallory")
    )

    assert (response.status_code, response.json()["detail"]) == (404, "Notification not found")
    assert (await world.inbox("mallory"))["items"] == []
    assert not (await world.inbox())["items"][0]["read"]
    assert (await world.request("GET", "/v1/inbox")).status_code == 401


async def test_a_read_notification_stays_and_says_so(world: World):
    await world.register()
    await world.post()
    await world.deliver()
    item_id = (await world.inbox())["items"][0]["id"]

    response = await world.request("POST", f"/v1/inbox/{item_id}/read", headers=signed_in(ALICE))

    assert response.status_code == 200
    assert (await world.inbox())["items"][0] == {
        "id": item_id,
        "app_id": "weather",
        "title": "Weather says",
        "body": "Rain at five.",
        "created_at": "2026-03-02T12:40:00Z",
        "delivered_at": "2026-03-02T12:40:00Z",
        "read": True,
    }


async def test_a_cursor_we_did_not_give_is_refused(world: World):
    response = await world.request(
        "GET", "/v1/inbox", params={"cursor": "x"}, headers=signed_in(ALICE)
    )

    assert response.status_code == 422


async def test_only_our_own_functions_may_deliver(world: World):
    await world.register()
    await world.post()

    response = await world.request("POST", "/notifications", json={"uid": ALICE, "id": "id0001"})

    assert response.status_code == 404
    assert world.push.sent == []
