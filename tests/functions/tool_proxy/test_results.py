"""Result mapping: responses of apps as text or data (T6)."""

import json
from dataclasses import replace

import pytest

from functions.tool_proxy.calls.failures import CallFailed
from functions.tool_proxy.calls.result_mapping import to_tool_data
from functions.tool_proxy.ports import OutgoingCall
from shared.domain.apps.app import App, ChatTool, ExternalIntegration
from shared.domain.ids import AppId, UserId
from shared.outbound.untrusted_text import MAX_RESULT_CHARS
from shared.ports import EgressResponse
from tests.fakes import FixedClock

STEP = {"name": "Connect", "url": "https://notes.example.com/connect"}
NOTES = App(
    id=AppId("A1"),
    owner=UserId("dev"),
    name="Notes",
    created_at=FixedClock().now(),
    external_integration=ExternalIntegration(auth_steps=(STEP,)),
)
TOOL = ChatTool(name="find", description="Find a note", endpoint="https://notes.example.com/find")
CALL = OutgoingCall(uid=UserId("ann"), app=NOTES, tool=TOOL, app_uid="ann b")


def build_response(status: int, body: str) -> EgressResponse:
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
        (200, "[" * 100_000, "[" * MAX_RESULT_CHARS),
        (200, "x" * 50_000, "x" * MAX_RESULT_CHARS),
        (201, '{"result": "Created."}', "Created."),
        (202, '{"message": "Later."}', "Later."),
        (204, "", ""),
    ],
)
def test_any_2xx_is_text_for_the_model_t6(status, body, text):
    assert to_tool_data(CALL, build_response(status, body)).visible_text == text


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ('{"result": {"n": 2}}', {"n": 2}),
        ('["a", "\u00fc"]', ["a", "\u00fc"]),
        ('{"notes": [{"id": 1, "of": {"by": null}}]}', {"notes": [{"id": 1, "of": {"by": None}}]}),
        ('{"result": [], "message": "none"}', []),
        ('{"a\\nb": "Fo\\u202eund"}', {"a\nb": "Found"}),
        ('{"key": "sk_0123456789abcdef"}', {"key": "[removed]"}),
        ("[" * 32 + "]" * 32, "[" * 32 + "]" * 32),
        ("[" * 33 + "]" * 33, "text"),
        ("[" * 10_000 + "]" * 10_000, "text"),
        ('{"n": NaN}', "text"),
        ("[1e999]", "text"),
        ('"[1, 2]"', "text"),
        ('{"result": "{\\"n\\": 2}"}', "text"),
        ('{"rows": "' + "x" * 90_000 + '"}', "text"),
        ('{"same": 1, "same": 2}', {"same": 2}),
        ("3", "text"),
    ],
)
def test_an_object_or_a_list_is_data_and_what_is_no_sound_json_is_text_m111(body, content):
    data = to_tool_data(CALL, build_response(200, body))

    if content == "text":
        assert isinstance(data.content, str)
    else:
        assert data.content == (json.loads(content) if isinstance(content, str) else content)
    assert (data.entry_type, data.hidden_fields) == (None, ())


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
def test_another_status_fails_with_a_sanitized_reason_t6(status, body, reason):
    with pytest.raises(CallFailed) as raised:
        to_tool_data(CALL, build_response(status, body))

    assert str(raised.value) == f"Error calling find: HTTP {status} - {reason}"
    assert (raised.value.error, raised.value.is_down) == (f"HTTP {status}", status >= 500)


@pytest.mark.parametrize("status", [401, 403])
def test_a_missing_account_is_reported_with_the_apps_reason_and_the_connect_url_t7(status):
    with pytest.raises(CallFailed) as raised:
        to_tool_data(CALL, build_response(status, '{"error": "Please connect your account."}'))

    assert str(raised.value) == (
        "Notes needs its user to connect an account first. It says: Please connect your account."
        " Connect here: https://notes.example.com/connect?uid=ann+b"
    )
    assert raised.value.connect_url == "https://notes.example.com/connect?uid=ann+b"
    assert (raised.value.error, raised.value.is_down) == (f"HTTP {status}", False)


def test_a_connect_url_that_is_not_http_is_dropped_t7():
    step = {"name": "Connect", "url": "javascript:alert(1)"}
    app = replace(NOTES, external_integration=ExternalIntegration(auth_steps=(step,)))

    with pytest.raises(CallFailed) as raised:
        to_tool_data(replace(CALL, app=app), build_response(401, ""))

    assert str(raised.value) == "Notes needs its user to connect an account first."
    assert raised.value.connect_url is None


def test_an_app_without_auth_steps_is_connected_at_its_home_url_t7():
    home = ExternalIntegration(app_home_url="https://notes.example.com/?from=keepsake")
    app = replace(NOTES, external_integration=home)

    with pytest.raises(CallFailed) as raised:
        to_tool_data(replace(CALL, app=app), build_response(403, ""))

    assert raised.value.connect_url == "https://notes.example.com/?from=keepsake&uid=ann+b"
