"""Notifications of an app at the started product: chat, inbox and hourly limit (T12–T16)."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.e2e.product import post_notification, run_product, wait_for_inbox
from tests.e2e.waiting import wait_until
from tests.servers import run_server


@dataclass(frozen=True)
class WeatherFixture:
    """Alice, and the address of the apps' manifests."""

    alice: httpx.Client
    apps: str

    def install(self, **chat_messages: Any) -> tuple[str, str]:
        """Register and enable an app with this manifest; return its id and key."""
        manifest = f"{self.apps}/tools.json?{httpx.QueryParams(chat_messages)}"
        integration = {"chat_tools_manifest_url": manifest}
        body = {"name": "Weather", "external_integration": integration}
        app_id = self.alice.post("/v1/apps", json=body).json()["id"]
        self.alice.post("/v1/apps/enable", params={"app_id": app_id})
        return app_id, self.alice.post(f"/v1/apps/{app_id}/keys").json()["secret"]

    def list_messages(self, **query: str) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.alice.get("/v2/messages", params=query).json()
        return messages

    def list_inbox(self) -> list[str]:
        return [item["body"] for item in self.alice.get("/v1/inbox").json()["items"]]

    def load_state(self, response: httpx.Response, app_id: str, secret: str) -> str:
        """Read, as the app, the state of the notification that it posted."""
        status_response = self.alice.get(
            f"/v1/integrations/notification/{response.headers['X-Notification-Id']}",
            params={"aid": app_id, "uid": "alice"},
            headers={"Authorization": f"Bearer {secret}"},
        )
        state: str = status_response.json()["state"]
        return state

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.list_inbox() or None)


async def manifest(request: Request) -> JSONResponse:
    """Serve a manifest whose chat messages are set by the query."""
    query = dict(request.query_params)
    chat: dict[str, Any] = {"enabled": "target" in query, "target": query.get("target", "app")}
    chat["notify"] = query.get("notify") == "true"
    return JSONResponse({"tools": [], "chat_messages": chat})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeatherFixture]:
    with ExitStack() as stack:
        apps = Starlette(routes=[Route("/tools.json", manifest)])
        origin = stack.enter_context(run_server(apps))
        folder = tmp_path_factory.mktemp("notifications")
        started_product = stack.enter_context(run_product(folder, EGRESS_DEV_ORIGINS=origin))
        yield WeatherFixture(stack.enter_context(started_product.client("alice")), origin)


def test_an_accepted_notification_is_delivered_to_the_inbox_t12(world: WeatherFixture) -> None:
    app_id, secret = world.install()

    answer = post_notification(world.alice, app_id, secret, "It will rain at noon.")

    assert (answer.status_code, answer.json()) == (200, {"status": "Ok"})
    reset = answer.headers["X-RateLimit-Reset"]
    assert answer.headers["X-RateLimit-Limit"] == "10"
    assert answer.headers["X-RateLimit-Remaining"] == "9"
    assert answer.headers["RateLimit"] == f'"app";r=9;t={reset}'
    item = wait_for_inbox(world.alice, 1)[0]
    assert (item["app_id"], item["title"], item["body"], item["read"]) == (
        app_id,
        "Weather says",
        "It will rain at noon.",
        False,
    )
    world.alice.post(f"/v1/inbox/{item['id']}/read")
    assert wait_for_inbox(world.alice, 1)[0]["read"] is True


def test_the_manifest_can_send_notifications_to_the_main_chat_t13(world: WeatherFixture) -> None:
    app_id, secret = world.install(target="main", notify="true")

    post_notification(world.alice, app_id, secret, "Main: it snows.")

    message = world.list_messages()[0]
    assert message["text"] == "[Weather]: Main: it snows."
    assert (message["sender"], message["app_id"]) == ("ai", None)
    assert (message["from_integration"], message["from_external_integration"]) == (True, True)
    world.wait_for("Main: it snows.")
    assert world.list_inbox().count("Main: it snows.") == 1


def test_a_message_stays_in_the_chat_of_its_app_unless_the_manifest_notifies_t13(
    world: WeatherFixture,
) -> None:
    app_id, secret = world.install(target="app")
    quiet = post_notification(world.alice, app_id, secret, "Own chat: it hails.")
    loud_app, loud_secret = world.install()
    post_notification(world.alice, loud_app, loud_secret, "Loud: it storms.")

    world.wait_for("Loud: it storms.")

    assert quiet.is_success
    assert [m["text"] for m in world.list_messages(app_id=app_id)] == ["Own chat: it hails."]
    assert all("it hails" not in m["text"] for m in world.list_messages())
    assert "Own chat: it hails." not in world.list_inbox()


def test_a_post_repeated_with_its_idempotency_key_is_delivered_once_t15(
    world: WeatherFixture,
) -> None:
    app_id, secret = world.install()

    first, again = (
        post_notification(world.alice, app_id, secret, "Once: it drizzles.", key="k1")
        for _ in range(2)
    )

    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")
    assert again.headers["X-Notification-Id"] == first.headers["X-Notification-Id"]
    assert world.list_inbox().count("Once: it drizzles.") == 1


def test_in_quiet_hours_a_notification_is_deferred_but_in_the_inbox_t16(
    world: WeatherFixture,
) -> None:
    app_id, secret = world.install()
    now = datetime.now(UTC)
    quiet = {"from": f"{now - timedelta(hours=1):%H:%M}", "to": f"{now + timedelta(hours=1):%H:%M}"}
    path = "/v1/users/notification-preferences"
    assert world.alice.patch(path, json={"quiet_hours": quiet}).json()["quiet_hours"] == quiet

    answer = post_notification(world.alice, app_id, secret, "Quiet: it is foggy.")

    assert "Quiet: it is foggy." in world.list_inbox()
    wait_until(lambda: world.load_state(answer, app_id, secret) == "held" or None)
    world.alice.patch(path, json={"quiet_hours": None})
    loud = post_notification(world.alice, app_id, secret, "Loud: it is sunny.")
    wait_until(lambda: world.load_state(loud, app_id, secret) == "sent" or None)


def test_ten_notifications_an_hour_are_accepted_t14(world: WeatherFixture) -> None:
    app_id, secret = world.install(target="app")

    answers = [post_notification(world.alice, app_id, secret, f"Gust {n}.") for n in range(12)]

    for hour in group_by_hour(answers):
        assert [a.status_code for a in hour] == ([200] * 10 + [429] * 2)[: len(hour)]
    admitted = [answer for answer in answers if answer.is_success]
    assert len(world.list_messages(app_id=app_id)) == len(admitted)


def test_a_notification_over_the_limit_is_told_when_to_retry_t14(world: WeatherFixture) -> None:
    app_id, secret = world.install(target="app")

    answers = [post_notification(world.alice, app_id, secret, "Gust.") for _ in range(21)]

    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["detail"] == "Rate limit exceeded. Maximum 10 notifications per hour."
    assert refused.headers["Retry-After"] == refused.headers["X-RateLimit-Reset"]
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert 1 <= int(refused.headers["Retry-After"]) <= 3_600


def group_by_hour(answers: list[httpx.Response]) -> list[list[httpx.Response]]:
    """Group responses by UTC hour: where one begins, the seconds until the reset jump up."""
    groups = [[answers[0]]]
    for earlier, later in pairwise(answers):
        if read_reset_s(later) > read_reset_s(earlier):
            groups.append([])
        groups[-1].append(later)
    return groups


def read_reset_s(answer: httpx.Response) -> int:
    return int(answer.headers["X-RateLimit-Reset"])
