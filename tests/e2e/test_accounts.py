"""Connected calendar: connected, asked about and disconnected at the started product (P6)."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.e2e.product import ask, build_model_environment, run_product
from tests.e2e.waiting import wait_until
from tests.recorded import recorded
from tests.servers import run_server
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai
from tests.servers.provider import CLIENT_ID, CLIENT_SECRET, FakeProvider

CALENDAR = "/v1/connections/google_calendar"


@dataclass(frozen=True)
class CalendarFixture:
    """Alice, Google, and the model."""

    alice: httpx.Client
    google: FakeProvider
    model: ScriptedOpenai
    data: Path

    def connect(self) -> str:
        """Allow access as a person does in a browser, and return the text of the last page."""
        url = self.alice.post(f"{CALENDAR}/authorize").json()["url"]
        with httpx.Client(follow_redirects=True, cookies=self.alice.cookies, timeout=30) as browser:
            return browser.get(url).text

    def list_offered_tools(self) -> list[str]:
        """Name the tools that the model was offered last."""
        return [tool["function"]["name"] for tool in self.model.answers[-1].body["tools"]]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[CalendarFixture]:
    events = [(200, recorded("google_calendar/events"))]
    google = FakeProvider(
        answers={
            "GET /v1/userinfo": [(200, {"email": "alice@example.com"})],
            "GET /calendar/v3/calendars/primary/events": events,
        }
    )
    with ExitStack() as stack:
        url = stack.enter_context(run_server(google.app))
        model = stack.enter_context(scripted_openai())
        environment = {
            "EGRESS_DEV_ORIGINS": url,
            "GOOGLE_CLIENT_ID": CLIENT_ID,
            "GOOGLE_CLIENT_SECRET": CLIENT_SECRET,
            "GOOGLE_BASE_URL": url,
        }
        started_product = stack.enter_context(
            run_product(tmp_path, **environment, **build_model_environment(model.url))
        )
        alice = stack.enter_context(started_product.client("alice"))
        yield CalendarFixture(alice, google, model, tmp_path / "data")


def test_a_connected_calendar_answers_a_question_p6(world: CalendarFixture) -> None:
    assert "Google Calendar is connected." in world.connect()
    world.model.play(
        Script(tool_calls=(ScriptedCall(name="get_calendar_events", arguments="{}"),)),
        Script(text="You meet Grace on Tuesday."),
    )

    answer = ask(world.alice, "Whom do I meet?")

    assert answer.text == "You meet Grace on Tuesday."
    result = world.model.answers[-1].body["messages"][-1]["content"]
    assert result.startswith('<data from="service Google Calendar">\nevents[3]{title,')
    assert "Sync with Grace" in result
    assert (world.data / "keys").stat().st_mode & 0o777 == 0o600


def test_a_disconnected_calendar_is_no_longer_offered_and_its_tokens_are_revoked_p6(
    world: CalendarFixture,
) -> None:
    world.connect()
    ask(world.alice, "Hello")
    with_calendar = world.list_offered_tools()

    assert world.alice.delete(CALENDAR).json() == {"status": "ok", "revoked": True}
    ask(world.alice, "Hello again")

    assert set(with_calendar) - set(world.list_offered_tools()) == {
        "get_calendar_events",
        "create_calendar_event",
        "update_calendar_event",
        "delete_calendar_event",
    }
    assert world.google.revoked_tokens == ["refresh-1"]


def test_erasing_an_account_disconnects_its_calendar_p6(world: CalendarFixture) -> None:
    world.connect()

    assert world.alice.delete("/v1/users/delete-account").status_code == 200

    wait_until(lambda: world.google.revoked_tokens or None)
    assert world.google.revoked_tokens == ["refresh-1"]


def test_a_service_without_settings_is_not_available(world: CalendarFixture) -> None:
    services = {
        service["service"]: service for service in world.alice.get("/v1/connections").json()
    }

    assert services["gmail"]["available"]
    assert not services["whoop"]["available"]
    assert "perplexity" not in services
