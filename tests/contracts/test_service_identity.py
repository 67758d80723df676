"""ServiceIdentity contract: a token serves one caller and one function, in both worlds (S8)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.cloud.oidc_service_identity import OidcServiceIdentity
from shared.adapters.system_clock import SystemClock
from shared.domain.apps.service_calls import ServiceCall
from shared.domain.errors import NotAllowed, NotAuthenticated, Unavailable
from shared.ports import ServiceIdentity
from shared.security.service_claims import CLOCK_SKEW
from tests.fakes import FixedClock
from tests.fixtures.callers import IDENTITY, SERVICE_CALLS, SERVICE_IDENTITY
from tests.servers import run_server
from tests.servers.google import PROJECT, FakeGoogle, build_key, run_google, to_email

Claims = dict[str, Any]
NEXT_HOUR = datetime.now(UTC) + timedelta(hours=1)
LAST_HOUR = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture(scope="module")
def google() -> Iterator[FakeGoogle]:
    with run_google() as google:
        yield google


def build_oidc(certs_url: str, **options: Any) -> OidcServiceIdentity:
    return OidcServiceIdentity(
        SERVICE_CALLS, SystemClock(), project=PROJECT, certs_url=certs_url, **options
    )


@dataclass
class ServiceIdentityFixture:
    """The port, and the issuer of its tokens: account, audience and expiry."""

    services: ServiceIdentity
    issue_token: Callable[[str, str, datetime], str]


@pytest.fixture(params=["local", "oidc"])
def world(request: pytest.FixtureRequest, google: FakeGoogle) -> ServiceIdentityFixture:
    if request.param == "local":
        return ServiceIdentityFixture(
            SERVICE_IDENTITY,
            lambda account, audience, expiry: SERVICE_IDENTITY.issue_token(
                account, audience, expires_at=expiry
            ),
        )
    return ServiceIdentityFixture(
        build_oidc(google.certs_url),
        lambda account, audience, expiry: google.issue_token(audience, account=account, exp=expiry),
    )


@pytest.mark.parametrize("call", SERVICE_CALLS.rows, ids=lambda call: call.account)
async def test_each_call_of_the_table_is_accepted_and_by_its_function_alone_s8(
    world: ServiceIdentityFixture, call: ServiceCall
) -> None:
    token = world.issue_token(call.account, call.function, NEXT_HOUR)

    accepting = [name for name in FUNCTIONS if await is_accepted(world.services, token, name)]

    assert accepting == [call.function]


FUNCTIONS = sorted({row.function for row in SERVICE_CALLS.rows})


async def is_accepted(services: ServiceIdentity, token: str, function: str) -> bool:
    try:
        await services.verify(token, function)
    except NotAuthenticated:
        return False
    return True


async def test_a_token_for_another_audience_is_refused(world: ServiceIdentityFixture) -> None:
    with pytest.raises(NotAuthenticated):
        await world.services.verify(
            world.issue_token("fn-chat", "close_run", NEXT_HOUR), "tool_proxy"
        )


async def test_an_expired_token_is_refused_s8(world: ServiceIdentityFixture) -> None:
    with pytest.raises(NotAuthenticated):
        await world.services.verify(
            world.issue_token("fn-chat", "tool_proxy", LAST_HOUR), "tool_proxy"
        )


@pytest.mark.parametrize("account", ["fn-library", "chat-to-close-run", "caller", ""])
async def test_an_account_without_this_call_is_refused_s8(
    world: ServiceIdentityFixture, account: str
) -> None:
    with pytest.raises(NotAllowed):
        await world.services.verify(
            world.issue_token(account, "tool_proxy", NEXT_HOUR), "tool_proxy"
        )


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é", "e30.e30.", "x" * 10_000])
async def test_a_malformed_token_is_refused(world: ServiceIdentityFixture, token: str) -> None:
    with pytest.raises(NotAuthenticated, match=r"^Invalid authorization token$"):
        await world.services.verify(token, "tool_proxy")


async def test_a_users_token_is_refused_as_a_service_token() -> None:
    with pytest.raises(NotAuthenticated):
        await SERVICE_IDENTITY.verify(IDENTITY.issue("tool_proxy"), "tool_proxy")


async def test_a_function_gets_no_token_for_a_call_that_it_does_not_make_s8() -> None:
    with pytest.raises(NotAllowed):
        await SERVICE_IDENTITY.get_token("chat", "erase_account")


FOREIGN_CLAIMS: list[Claims] = [
    {"iss": "https://evil.example"},
    {"exp": datetime(2020, 1, 1, tzinfo=UTC)},
    {"aud": "close_run"},
    {"email": "fn-chat@other.iam.gserviceaccount.com"},
    {"email": "someone@else.example"},
    {"email": None},
    {"email_verified": False},
]


@pytest.mark.parametrize("claims", FOREIGN_CLAIMS)
async def test_an_untrusted_oidc_token_is_refused_s8(google: FakeGoogle, claims: Claims) -> None:
    services = build_oidc(google.certs_url)
    await services.verify(google.issue_token("tool_proxy"), "tool_proxy")

    with pytest.raises((NotAuthenticated, NotAllowed)):
        await services.verify(google.issue_token("tool_proxy", **claims), "tool_proxy")


async def test_an_oidc_token_signed_by_another_key_is_refused(google: FakeGoogle) -> None:
    stranger = FakeGoogle(build_key("stranger"), "", [])
    services = build_oidc(google.certs_url)

    with pytest.raises(NotAuthenticated):
        await services.verify(stranger.issue_token("tool_proxy"), "tool_proxy")


async def test_a_function_may_have_its_url_as_audience(google: FakeGoogle) -> None:
    services = build_oidc(google.certs_url, audiences={"tool_proxy": "https://proxy.example"})

    await services.verify(google.issue_token("https://proxy.example"), "tool_proxy")
    with pytest.raises(NotAuthenticated):
        await services.verify(google.issue_token("tool_proxy"), "tool_proxy")


async def test_behind_iam_the_platforms_deliveries_need_no_signature_s8(
    google: FakeGoogle,
) -> None:
    services = build_oidc("", behind_iam=True)
    token = google.issue_token("close_run", account="chat-to-close-run")

    assert await is_accepted(services, redact_signature(token), "close_run")
    assert not await is_accepted(build_oidc(google.certs_url), redact_signature(token), "close_run")


@pytest.mark.parametrize("claims", [{**claims} for claims in FOREIGN_CLAIMS if "aud" not in claims])
async def test_behind_iam_the_claims_of_a_delivery_are_checked_s8(
    google: FakeGoogle, claims: Claims
) -> None:
    """The platform's mark stands for a signature and for nothing else."""
    services = build_oidc("", behind_iam=True)
    token = google.issue_token("close_run", **{"email": to_email("chat-to-close-run"), **claims})

    with pytest.raises((NotAuthenticated, NotAllowed)):
        await services.verify(redact_signature(token), "close_run")


URL = "https://on-conversation-written-123456789012.europe-west1.run.app"


@pytest.mark.parametrize(
    "audience",
    [
        URL,
        f"{URL}/",
        f"{URL}/?__GCP_CloudEventsMode=CE_PUBSUB_BINDING",
        f"{URL}?__GCP_CloudEventsMode=CUSTOM_PUBSUB_projects%2Fdemo%2Ftopics%2Ft",
        "https://on-conversation-written-4xj7qm3zpa-ew.a.run.app",
        "https://on-conversation-written-4xj7qm3zpa-ew.a.run.app/",
    ],
)
async def test_behind_iam_a_trigger_may_ask_for_any_url_of_its_service_f2(
    google: FakeGoogle, audience: str
) -> None:
    services = build_oidc("", behind_iam=True, audiences={"on_conversation_written": URL})
    token = google.issue_token(audience, account="documents-to-written")

    assert await is_accepted(services, redact_signature(token), "on_conversation_written")
    assert not await is_accepted(services, redact_signature(token), "process_conversation")


@pytest.mark.parametrize(
    "audience",
    [
        "http://close-run-123456789012.europe-west1.run.app",
        "https://close-run.evil.example",
        "https://close-run-123456789012.europe-west1.run.app.evil.example",
        "https://not-close-run-123456789012.europe-west1.run.app",
        "https://close-run-x@evil-4xj7qm3zpa-ew.a.run.app",
        "https://[close-run",
    ],
)
async def test_behind_iam_a_url_of_another_service_is_refused_s8(
    google: FakeGoogle, audience: str
) -> None:
    token = google.issue_token(audience, account="chat-to-close-run")

    assert not await is_accepted(
        build_oidc("", behind_iam=True), redact_signature(token), "close_run"
    )


@pytest.mark.parametrize("skew", [timedelta(minutes=-4), timedelta(minutes=4)])
async def test_clocks_may_differ_by_minutes_f2(google: FakeGoogle, skew: timedelta) -> None:
    """A token just issued elsewhere begins ahead of our clock; one about to expire has expired by it."""
    now = datetime.now(UTC)
    token = google.issue_token("tool_proxy", iat=now + skew, exp=now + max(skew * 2, skew))

    assert await is_accepted(build_oidc(google.certs_url), token, "tool_proxy")


@pytest.mark.parametrize("audience", ["https://proxy.example", "erase_account", "", None])
async def test_behind_iam_the_audience_of_a_delivery_is_checked_s8(
    google: FakeGoogle, audience: Any
) -> None:
    services = build_oidc("", behind_iam=True)
    token = google.issue_token(audience, account="chat-to-close-run")

    with pytest.raises(NotAuthenticated):
        await services.verify(redact_signature(token), "close_run")


@pytest.mark.parametrize("account", ["fn-chat", "fn-erase-account"])
async def test_behind_iam_a_call_of_our_own_functions_needs_its_signature_s8(
    google: FakeGoogle, account: str
) -> None:
    services = build_oidc(google.certs_url, behind_iam=True)
    token = google.issue_token("tool_proxy", account=account)

    await services.verify(token, "tool_proxy")
    with pytest.raises(NotAllowed):
        await services.verify(redact_signature(token), "tool_proxy")


@pytest.mark.parametrize(
    "token", ["x.SIGNATURE_REMOVED_BY_GOOGLE", "é.e30.SIGNATURE_REMOVED_BY_GOOGLE"]
)
async def test_behind_iam_a_malformed_token_is_refused(token: str) -> None:
    with pytest.raises(NotAuthenticated):
        await build_oidc("", behind_iam=True).verify(token, "close_run")


async def test_without_iam_a_token_without_its_signature_is_refused(google: FakeGoogle) -> None:
    token = google.issue_token("close_run", account="chat-to-close-run")

    with pytest.raises(NotAuthenticated):
        await build_oidc(google.certs_url).verify(redact_signature(token), "close_run")


def redact_signature(token: str) -> str:
    """Return the token as Cloud Run passes it on."""
    return f"{token.rpartition('.')[0]}.SIGNATURE_REMOVED_BY_GOOGLE"


async def test_a_fetched_oidc_token_is_good_for_its_audience_and_cached(
    google: FakeGoogle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    services = build_oidc(google.certs_url)
    audiences: list[str] = []
    tokens: list[str] = []

    async def exchange(request: Request) -> Response:
        [assertion] = parse_qs((await request.body()).decode())["assertion"]
        claims = jwt.decode(assertion, options={"verify_signature": False})
        audiences.append(claims["target_audience"])
        return JSONResponse({"id_token": google.issue_token(claims["target_audience"])})

    with run_server(Starlette(routes=[Route("/token", exchange, methods=["POST"])])) as url:
        account.write_text(json.dumps(_build_account(google.key, f"{url}/token")))
        for caller, audience in [("chat", "tool_proxy"), ("chat", "tool_proxy"), ("chat", "mail")]:
            tokens.append(await services.get_token(caller, audience))

    await services.verify(tokens[0], "tool_proxy")
    assert tokens[0] == tokens[1]
    assert audiences == ["tool_proxy", "mail"]


async def test_an_unreachable_token_endpoint_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account.json"
    account.write_text(json.dumps(_build_account(build_key("google"), "http://127.0.0.1:1/token")))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))

    with pytest.raises(Unavailable):
        await build_oidc("").get_token("chat", "tool_proxy")


async def test_a_token_whose_signature_was_checked_still_expires_s8(google: FakeGoogle) -> None:
    clock = FixedClock(datetime.now(UTC))
    services = OidcServiceIdentity(
        SERVICE_CALLS, clock, project=PROJECT, certs_url=google.certs_url
    )
    token = google.issue_token("tool_proxy")
    await services.verify(token, "tool_proxy")

    clock.advance(seconds=3_601 + CLOCK_SKEW.total_seconds())

    with pytest.raises(NotAuthenticated):
        await services.verify(token, "tool_proxy")


async def test_certificates_are_fetched_once(google: FakeGoogle) -> None:
    services = build_oidc(google.certs_url)
    google.fetched_paths.clear()

    for number in range(3):
        await services.verify(google.issue_token("tool_proxy", number=number), "tool_proxy")

    assert google.fetched_paths == ["/certs"]


async def test_missing_certificates_are_unavailable(google: FakeGoogle) -> None:
    services = build_oidc(google.certs_url + "/missing")

    with pytest.raises(Unavailable):
        await services.verify(google.issue_token("tool_proxy"), "tool_proxy")


def _build_account(key: RSAPrivateKey, token_uri: str) -> dict[str, str]:
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        "type": "service_account",
        "client_email": to_email("fn-chat"),
        "private_key": pem.decode(),
        "token_uri": token_uri,
    }
