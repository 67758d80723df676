"""Responses to apps: exact texts, in the order of the checks (T12)."""

from typing import Any

import pytest

from shared.domain.store.documents import Delete, Update
from tests.fixtures.callers import build_auth_headers
from tests.fixtures.notifications import ALICE, KEY, WEATHER, NotificationsFixture

PATH = "/v1/integrations/notification"
NO_KEY = "Missing or invalid Authorization header. Must be 'Bearer API_KEY'"


async def test_an_accepted_notification_returns_rate_limit_headers(world: NotificationsFixture):
    await world.register_app()

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
async def test_an_error_names_the_first_check_that_fails(
    world: NotificationsFixture, changes: dict[str, Any], status: int, detail: str
):
    await world.register_app()

    response = await world.post(**changes)

    assert (response.status_code, response.json()["detail"]) == (status, detail)
    assert response.headers["content-type"] == "application/problem+json"
    assert (await world.post()).headers["X-RateLimit-Remaining"] == "9"


async def test_an_app_without_the_capability_cannot_post_t1(world: NotificationsFixture):
    await world.register_app()
    await world.documents.write(Update(f"apps/{WEATHER}", {"capabilities": ["chat"]}))

    response = await world.post()

    detail = "App does not have the capability external_integration"
    assert (response.status_code, response.json()["detail"]) == (403, detail)


@pytest.mark.parametrize(
    ("key", "status", "detail"),
    [(KEY, 404, "App not found"), ("sk_wrong", 403, "Invalid API key")],
)
async def test_a_key_of_a_deleted_app_reads_that_it_is_gone_t12(
    world: NotificationsFixture, key: str, status: int, detail: str
):
    await world.register_app()
    await world.deps.stores.apps.remove(WEATHER)

    response = await world.post(key=key)
    receipt = await world.get_receipt("n1", key=key)

    assert (response.status_code, response.json()["detail"]) == (status, detail)
    assert receipt.status_code == status


async def test_an_app_that_became_private_reaches_no_other_user(world: NotificationsFixture):
    await world.register_app()
    await world.documents.write(Update(f"apps/{WEATHER}", {"private": True}))

    assert (await world.post()).status_code == 403


@pytest.mark.parametrize("header", [{}, {"Authorization": KEY}, {"Authorization": "Basic abc"}])
async def test_a_header_that_is_no_bearer_is_401(
    world: NotificationsFixture, header: dict[str, str]
):
    await world.register_app()
    body = {"aid": WEATHER, "uid": ALICE, "message": "Rain."}

    response = await world.request("POST", PATH, json=body, headers=header)

    assert (response.status_code, response.json()["detail"]) == (401, NO_KEY)


async def test_a_key_works_without_its_prefix(world: NotificationsFixture):
    await world.register_app()

    response = await world.post(key=KEY.removeprefix("sk_"))

    assert response.status_code == 200


async def test_a_deleted_app_whose_key_is_left_is_not_found(world: NotificationsFixture):
    await world.register_app()
    await world.documents.write(Delete(f"apps/{WEATHER}"))

    response = await world.post()

    assert (response.status_code, response.json()["detail"]) == (404, "App not found")


@pytest.mark.parametrize("body", [b'{"aid": "weather"', b"\xff", b""])
async def test_a_body_that_is_no_json_is_400(world: NotificationsFixture, body: bytes):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}

    response = await world.request("POST", PATH, content=body, headers=headers)

    assert response.status_code == 400


@pytest.mark.parametrize("body", [[], "weather", {"aid": 5}, {"aid": "a", "message": {"a": 1}}])
async def test_a_body_of_another_shape_is_422(world: NotificationsFixture, body: object):
    headers = {"Authorization": f"Bearer {KEY}"}

    response = await world.request("POST", PATH, json=body, headers=headers)

    assert response.status_code == 422


async def test_the_eleventh_in_an_hour_is_refused_until_the_hour_ends(world: NotificationsFixture):
    """T14."""
    await world.register_app()
    for _ in range(10):
        assert (await world.post()).status_code == 200

    rejected_response = await world.post()
    world.clock.advance(seconds=1200)
    accepted_response = await world.post()

    assert rejected_response.status_code == 429
    assert rejected_response.json() == {
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "Rate limit exceeded. Maximum 10 notifications per hour.",
        "violated-policies": ["app"],
    }
    assert {name: rejected_response.headers[name] for name in ("Retry-After", *LIMIT_HEADERS)} == {
        "Retry-After": "1200",
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1200",
        "RateLimit-Policy": '"app";q=10;w=3600',
        "RateLimit": '"app";r=0;t=1200',
    }
    assert (accepted_response.status_code, accepted_response.headers["X-RateLimit-Remaining"]) == (
        200,
        "9",
    )


@pytest.mark.parametrize("place", ["json", "params"])
async def test_the_v2_route_takes_body_or_query_and_never_writes_into_the_chat(
    world: NotificationsFixture, place: str
):
    content: Any = {place: {"uid": ALICE, "message": "Rain at five."}}
    await world.register_app(chat_messages_enabled=True)

    response = await world.request(
        "POST",
        "/v2/integrations/weather/notification",
        **content,
        headers={"Authorization": f"Bearer {KEY}"},
    )
    await world.deliver()

    assert (response.status_code, response.json()) == (200, {"status": "Ok"})
    assert response.headers["X-RateLimit-Remaining"] == "9"
    assert await world.list_chat_messages("weather") == []
    assert [message.body for _, message in world.push.sent_messages] == ["Rain at five."]


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ({"message": "Rain."}, 400, "uid is required"),
        ({"uid": "alice"}, 400, "message is required"),
        ({"uid": "bob", "message": "Rain."}, 403, "User does not have this app installed"),
    ],
)
async def test_the_v2_route_makes_the_same_checks(
    world: NotificationsFixture, query: dict[str, str], status: int, detail: str
):
    await world.register_app()

    response = await world.request(
        "POST",
        "/v2/integrations/weather/notification",
        params=query,
        headers={"Authorization": f"Bearer {KEY}"},
    )

    assert (response.status_code, response.json()["detail"]) == (status, detail)


async def test_the_v2_route_takes_the_query_of_released_apps_r4(world: NotificationsFixture):
    await world.register_app()

    response = await world.request(
        "POST",
        "/v2/integrations/weather/notification?uid=alice&message=Rain at five.",
        headers={"Authorization": f"Bearer {KEY}"},
    )

    assert (response.status_code, response.json()) == (200, {"status": "Ok"})
    assert [item["body"] for item in (await world.get_inbox())["items"]] == ["Rain at five."]


async def test_the_inbox_is_paginated_newest_first(world: NotificationsFixture):
    await world.register_app()
    for text in ("first", "second", "third"):
        await world.post(message=text)
        world.clock.advance(seconds=1)

    page = await world.get_inbox(limit=2)
    next_page = await world.get_inbox(limit=2, cursor=page["next_cursor"])

    assert [item["body"] for item in page["items"]] == ["third", "second"]
    assert [item["body"] for item in next_page["items"]] == ["first"]
    assert next_page["next_cursor"] is None


async def test_an_inbox_is_private_to_its_user(world: NotificationsFixture):
    await world.register_app()
    await world.post()
    await world.deliver()
    item_id = (await world.get_inbox())["items"][0]["id"]

    response = await world.request(
        "POST", f"/v1/inbox/{item_id}/read", headers=build_auth_headers("mallory")
    )

    assert (response.status_code, response.json()["detail"]) == (404, "Notification not found")
    assert (await world.get_inbox("mallory"))["items"] == []
    assert not (await world.get_inbox())["items"][0]["read"]
    assert (await world.request("GET", "/v1/inbox")).status_code == 401


async def test_a_read_notification_stays_listed_as_read(world: NotificationsFixture):
    await world.register_app()
    await world.post()
    await world.deliver()
    item_id = (await world.get_inbox())["items"][0]["id"]

    response = await world.request(
        "POST", f"/v1/inbox/{item_id}/read", headers=build_auth_headers(ALICE)
    )

    assert response.status_code == 200
    assert (await world.get_inbox())["items"][0] == {
        "id": item_id,
        "app_id": "weather",
        "title": "Weather says",
        "body": "Rain at five.",
        "created_at": "2026-03-02T12:40:00Z",
        "delivered_at": "2026-03-02T12:40:00Z",
        "read": True,
    }


async def test_an_invalid_cursor_is_rejected(world: NotificationsFixture):
    response = await world.request(
        "GET", "/v1/inbox", params={"cursor": "x"}, headers=build_auth_headers(ALICE)
    )

    assert response.status_code == 422


async def test_only_our_own_functions_may_deliver(world: NotificationsFixture):
    await world.register_app()
    await world.post()

    response = await world.request("POST", "/notifications", json={"uid": ALICE, "id": "id0001"})

    assert response.status_code == 404
    assert world.push.sent_messages == []
