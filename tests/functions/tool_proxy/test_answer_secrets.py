"""Secrets in answers of apps: what the model, the developer and the log read of them (S10)."""

import json

import pytest

from functions.tool_proxy.calls.failures import CallFailed
from functions.tool_proxy.calls.result_mapping import to_tool_data
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE
from tests.functions.tool_proxy.test_results import CALL, build_response

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKC\n-----END PRIVATE KEY-----"
PYTHON = (
    'Traceback (most recent call last):\n  File "/srv/app/main.py", line 7, in find\n'
    "    connect(dsn)\nKeyError: 'q'"
)
NODE = "TypeError: q\n    at find (/srv/app/index.js:10:15)\n    at async run (node:internal/x:1:2)"
JAVA = (
    "java.lang.Error: q\n\tat com.acme.Find.run(Find.java:31)\n\tat com.acme.Main.main(Main.java)"
)
GO = "panic: q\ngoroutine 1 [running]:\n\t/srv/app/main.go:12 +0x1d"


def as_error(text: object) -> str:
    return json.dumps({"error": text})


def as_result(text: object) -> str:
    return json.dumps({"result": text})


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (200, as_error("Bearer a1b2c3d4e5f6 is refused"), "Error: Bearer [removed] is refused"),
        (200, as_error("sk_live_4eC39HqLyjWDarjtT1zdp7dc expired"), "Error: [removed] expired"),
        (200, as_error("ghp_16C7e42F292c6912E7710c838347Ae178B4a"), "Error: [removed]"),
        (200, as_error(f"bad token {JWT}"), "Error: bad token [removed]"),
        (
            200,
            as_error({"code": 7, "api_key": "abcdefgh"}),
            'Error: {"code":7,"api_key":"[removed]"}',
        ),
        (
            200,
            as_error("Authorization: Basic dXNlcjpwYXNz"),
            "Error: Authorization: Basic [removed]",
        ),
        (200, as_error("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "Error: [removed]"),
        (
            200,
            as_error("connect to postgres://ann:hunter2@db:5432/x failed"),
            "Error: connect to postgres://[removed]@db:5432/x failed",
        ),
        (200, as_error(PEM), "Error: [removed]"),
        (200, as_error("Set-Cookie: sid=8f2; Path=/"), "Error: Set-Cookie: [removed]"),
        (200, as_error(PYTHON), "Error: [removed]\nKeyError: 'q'"),
        (200, as_error(NODE), "Error: TypeError: q\n[removed]\n[removed]"),
        (200, as_error("no such file: /home/ann/app/.env"), "Error: no such file: [removed]"),
        (200, as_error("C:\\inetpub\\app\\web.config:12 is broken"), "Error: [removed] is broken"),
        (200, as_error("Error: No such note."), "Error: No such note."),
        (200, as_error("ERROR: error: No such note."), "Error: No such note."),
        (200, as_error(""), "Error: no reason given"),
        (200, as_result("Your key is AKIAIOSFODNN7EXAMPLE."), "Your key is [removed]."),
        (200, as_result({"token": "abcdefgh", "n": 1}), '{"token":"[removed]","n":1}'),
        (200, as_result({"log": PYTHON}), '{"log":"[removed]\\nKeyError: \'q\'"}'),
        (200, as_result(JAVA), "java.lang.Error: q\n[removed]\n\tat com.acme.Main.main(Main.java)"),
        (200, as_result(GO), "panic: q\n[removed]\n[removed]"),
        (200, json.dumps({"message": "password=hunter2"}), "password=[removed]"),
        (200, json.dumps([{"secret": "correct horse"}]), '[{"secret":"[removed]"}]'),
        (200, f"plain {JWT}", "plain [removed]"),
        (200, "DB_PASSWORD=hunter2\nPORT=80", "DB_PASSWORD=[removed]\nPORT=80"),
        (200, "Cookie: session=8f2a; theme=dark", "Cookie: [removed]"),
        (201, as_result("redis://:hunter2@cache/0"), "redis://[removed]@cache/0"),
        (
            200,
            as_result("https://x.example/a?key=abcdef1&b=2"),
            "https://x.example/a?key=[removed]&b=2",
        ),
        (200, as_result("See /docs/etc/plan.md at 5:30"), "See /docs/etc/plan.md at 5:30"),
        (200, as_result("Meet at Café (12:30), or at 8:00"), "Meet at Café (12:30), or at 8:00"),
        (200, as_result("Order 4929 1234, id 3f9aB27cQ81z"), "Order 4929 1234, id 3f9aB27cQ81z"),
    ],
)
def test_no_answer_passes_a_secret_on_s10(status, body, text):
    assert to_tool_data(CALL, build_response(status, body)).visible_text == text


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, as_error("password=hunter2 is wrong"), "password=[removed] is wrong"),
        (500, as_error("cannot open /srv/app/secrets.yaml"), "cannot open [removed]"),
        (500, as_error("Error: boom"), "boom"),
        (422, "mysql://ann:hunter2@db/x", "mysql://[removed]@db/x"),
        (500, NODE, "TypeError: q"),
        (503, as_error({"headers": {"authorization": "abcdefgh"}}), None),
    ],
)
def test_no_reason_passes_a_secret_on_s10(status, body, reason):
    with pytest.raises(CallFailed) as raised:
        to_tool_data(CALL, build_response(status, body))

    assert "abcdefgh" not in str(raised.value)
    if reason:
        assert str(raised.value) == f"Error calling find: HTTP {status} - {reason}"


async def test_neither_developer_nor_log_reads_the_words_of_an_answer_s10(
    world: NotesFixture, capfd: pytest.CaptureFixture[str]
):
    app = await world.install()
    world.notes.statuses = {app["id"]: 401}

    with pytest.raises(Exception, match="connect an account"):
        await world.call(app["id"], q="x")

    [entry] = (await world.request("GET", f"/v1/apps/{app['id']}/calls")).json()
    assert entry["error"] == "HTTP 401"
    assert "Milk" not in json.dumps(entry) + "".join(capfd.readouterr())
    assert ALICE not in json.dumps(entry)


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):" + "\n " * 50_000,
        "\n at " * 50_000,
        "\n\t/" + "a" * 100_000,
        "/srv" * 50_000,
        "/srv/a" * 50_000,
        "Error: " * 50_000,
        "C:\\" * 50_000,
    ],
)
def test_hostile_answers_are_sanitized_in_bounded_work_s10(text):
    assert len(to_tool_data(CALL, build_response(200, as_error(text))).visible_text) <= 20_100
