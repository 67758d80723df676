"""Signatures of calls, checked as a receiver checks them, by the example app's own code (S7)."""

from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from examples.shopping.shop import is_signed_request
from shared.adapters.guarded_egress import GuardedEgress
from shared.outbound.webhook_signature import sign
from shared.ports import EgressRequest
from shared.security.egress_rules import read_request_target
from tests.servers import run_server

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OLD_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

methods = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"])
targets = st.text("ab./?&=%+|~:{", max_size=20).map("/{}".format)
requests = st.tuples(methods, targets, st.binary(max_size=20).map(lambda data: data.hex().encode()))


def sign_request(method: str, target: str, body: bytes, *secrets: str) -> dict[str, str]:
    url = f"https://notes.example.com{target}"
    return sign(secrets or [SECRET], "msg_1", datetime.now(UTC), method=method, url=url, body=body)


@given(signed=requests, received=requests)
def test_a_captured_header_fails_for_any_other_call_s7(signed, received):
    (method, target, body), (other_method, other_target, other_body) = signed, received
    urls = [f"https://notes.example.com{path}" for path in (target, other_target)]
    wire_target, other_wire_target = map(read_request_target, urls)
    assume((method, wire_target, body) != (other_method, other_wire_target, other_body))
    headers = sign_request(method, target, body)

    assert is_signed_request(SECRET, method, wire_target, headers, body)
    assert not is_signed_request(SECRET, other_method, other_wire_target, headers, other_body)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("webhook-id", lambda _: "msg_2"),
        ("webhook-timestamp", lambda text: str(int(text) - 1)),
        ("keepsake-signature", lambda _: ""),
        ("keepsake-signature", lambda _: "v1,é"),
        ("webhook-signature", lambda _: "v1,AAAA"),
    ],
    ids=["id", "timestamp", "empty", "letters", "body"],
)
def test_a_changed_header_fails_s7(name, change):
    headers = sign_request("GET", "/find?q=x", b"")
    headers[name] = change(headers[name])

    assert not is_signed_request(SECRET, "GET", "/find?q=x", headers, b"")


def test_the_signature_of_one_call_is_not_that_of_a_body_alone_s7():
    """Both headers begin alike, so one must not pass for the other."""
    headers = sign_request("GET", "/find?q=x", b"")
    swapped = {
        **headers,
        "keepsake-signature": headers["webhook-signature"],
        "webhook-signature": headers["keepsake-signature"],
    }

    assert not is_signed_request(SECRET, "GET", "/find?q=x", swapped, b"")


def test_both_secrets_sign_the_request_during_a_rotation_s7():
    headers = sign_request("DELETE", "/notes/7", b"", SECRET, OLD_SECRET)

    for secret in (SECRET, OLD_SECRET):
        assert is_signed_request(secret, "DELETE", "/notes/7", headers, b"")
    assert len(headers["keepsake-signature"].split()) == 2


@pytest.mark.parametrize(
    "target",
    [
        "/find",
        "",
        "?q=1",
        "//find/../x/./y",
        "/a|b^`{c}\"<>'(d)[e]?q=a|b^`{c}\"<>'(d)[e]",
        "/%7e%2F%zz?%41=%c3%a9&+",
        f"/find?{urlencode({'q': 'Käse & Brot/100%?#', 'n': ['1', '2']}, doseq=True)}",
        "/find?",
        "/find??a=1?b=2",
    ],
)
async def test_the_signed_target_is_the_one_on_the_wire_s7(target):
    received = []

    async def record(scope: Scope, receive: Receive, send: Send) -> None:
        path, query = scope["raw_path"].decode(), scope["query_string"].decode()
        received.append(f"{path}?{query}" if query else path)
        await Response()(scope, receive, send)

    with run_server(record) as origin:
        url = origin + target
        headers = sign([SECRET], "msg_1", datetime.now(UTC), method="GET", url=url, body=b"")
        request = EgressRequest(method="GET", url=url, headers=headers)
        await GuardedEgress(dev_origins=[origin]).send(request)

    assert is_signed_request(SECRET, "GET", received[0], headers, b"")


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a.example.com:99999/", "\n", ""])
def test_an_address_that_is_never_sent_is_no_error_s7(url):
    assert sign([SECRET], "msg_1", datetime.now(UTC), method="POST", url=url, body=b"")[
        "keepsake-signature"
    ]
