"""T6: an app's answer as text for the model, as a table."""

from dataclasses import replace

import pytest

from functions.tool_proxy.calls.outgoing import CallFailed, Outgoing
from functions.tool_proxy.calls.results import MAX_TEXT, text_of
from shared.domain.app import App, ChatTool, ExternalIntegration
from shared.domain.ids import AppId, UserId
from shared.ports import EgressResponse
from tests.doubles import FixedClock

STEP = {"name": "Connect", "url": "https://notes.example.com/connect"}
NOTES = App(
    id=AppId("A1"),
    owner=UserId("dev"),
    name="Notes",
    created_at=FixedClock().now(),
    external_integration=ExternalIntegration(auth_steps=(STEP,)),
)
TOOL = ChatTool(name="find", description="Find a note", endpoint="https://notes.example.com/find")
CALL = Outgoing(uid=UserId("ann b"), app=NOTES, tool=TOOL)


def answer(status: int, body: str) -> EgressResponse:
    return EgressResponse(status=status, content_type="text/plain", body=body.encode())


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (200, '{"result": "Found 2."}', "Found 2."),
        (200, '{"result": "Found.", "message": "ignored"}', "Found."),
        (200, '{"result": {"n": 2}}', '{"n":2}'),
        (200, '{"result": 0}', "0"),
        (200, '{"result": null, "message": "Done."}', "Done."),
        (200, '{"message": "Done."}', "Done."),
        (200, '{"error": "No such note."}', "Error: No such note."),
        (200, '"just text"', "just text"),
        (200, '["a", "ü"]', '["a","ü"]'),
        (200, '{"notes": [1, 2]}', '{"notes":[1,2]}'),
        (200, "3", "3"),
        (200, '{"result": "half \\ud83d"}', "half ?"),
        (200, "plain text", "plain text"),
        (200, '{"result": "Fo\\u202eund\\udb40\\udc49."}', "Found."),
        (200, "{broken", "{broken"),
        (200, "", ""),
        (200, "[" * 100_000, "[" * MAX_TEXT),
        (200, "x" * 50_000, "x" * MAX_TEXT),
        (201, '{"result": "Created."}', "Created."),
        (202, '{"message": "Later."}', "Later."),
        (204, "", ""),
    ],
)
def test_t6_any_2xx_is_text_for_the_model(status, body, text):
    assert text_of(CALL, answer(status, body)) == text


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, '{"error": "q is missing"}', "q is missing"),
        (404, "no such note", "no such note"),
        (500, "", "Internal Server Error"),
        (502, "<html><body>secret-host</body></html>", "Bad Gateway"),
        (500, 'Traceback (most recent call last):\n  File "app.py"', "Internal Server Error"),
        (500, '{"error": "boom\\nTraceback (most recent call last):\\n  File"}', "boom"),
        (500, '{"error": "token Bearer abc.def.ghi refused"}', "token [removed] refused"),
        (500, '{"error": "key sk_0123456789abcdef is old"}', "key [removed] is old"),
        (500, '{"error": {"code": 7}}', '{"code":7}'),
        (302, "", "Found"),
        (599, "", "no reason given"),
        (500, "x" * 500, "x" * 200),
        (500, "eyJ-" * 200_000, "eyJ-" * 50),
        (500, " " * 500_000 + "x", "x"),
    ],
)
def test_t6_another_status_fails_without_anything_private(status, body, reason):
    with pytest.raises(CallFailed) as failed:
        text_of(CALL, answer(status, body))

    assert str(failed.value) == f"Error calling find: HTTP {status} - {reason}"
    assert (failed.value.error, failed.value.is_down) == (f"HTTP {status}", status >= 500)


@pytest.mark.parametrize("status", [401, 403])
def test_t7_a_missing_account_is_said_in_the_apps_own_words_with_its_link(status):
    with pytest.raises(CallFailed) as failed:
        text_of(CALL, answer(status, '{"error": "Please connect your account."}'))

    assert str(failed.value) == (
        "Notes needs its user to connect an account first. It says: Please connect your account."
        " Connect here: https://notes.example.com/connect?uid=ann+b"
    )
    assert failed.value.connect_url == "https://notes.example.com/connect?uid=ann+b"
    assert (failed.value.error, failed.value.is_down) == (f"HTTP {status}", False)


def test_t7_a_link_that_is_no_web_address_is_not_handed_on():
    step = {"name": "Connect", "url": "javascript:alert(1)"}
    app = replace(NOTES, external_integration=ExternalIntegration(auth_steps=(step,)))

    with pytest.raises(CallFailed) as failed:
        text_of(replace(CALL, app=app), answer(401, ""))

    assert str(failed.value) == "Notes needs its user to connect an account first."
    assert failed.value.connect_url is None


def test_t7_an_app_without_steps_is_connected_at_its_home():
    home = ExternalIntegration(app_home_url="https://notes.example.com/?from=keepsake")
    app = replace(NOTES, external_integration=home)

    with pytest.raises(CallFailed) as failed:
        text_of(replace(CALL, app=app), answer(403, ""))

    assert failed.value.connect_url == "https://notes.example.com/?from=keepsake&uid=ann+b"
