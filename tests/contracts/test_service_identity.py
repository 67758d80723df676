"""ServiceIdentity contract: a token serves one audience, embedded and with Google's OIDC tokens."""

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.cloud.oidc_service_identity import OidcServiceIdentity
from shared.adapters.embedded.local_identity import LocalIdentity, LocalServiceIdentity
from shared.domain.errors import NotAuthenticated, Unavailable
from shared.ports import ServiceIdentity
from tests.servers import run_server

KID = "k1"
ACCOUNT = "functions@demo.iam.gserviceaccount.com"
Claims = dict[str, Any]


@dataclass
class FakeGoogle:
    """A certificate endpoint and the key behind it."""

    key: RSAPrivateKey
    certs_url: str
    fetched_paths: list[str]

    def issue_token(self, audience: str, **claims: Any) -> str:
        now = datetime.now(UTC)
        standard = {
            "iss": "https://accounts.google.com",
            "aud": audience,
            "email": ACCOUNT,
            "email_verified": True,
            "iat": now,
            "exp": now + timedelta(hours=1),
        }
        return jwt.encode(standard | claims, self.key, algorithm="RS256", headers={"kid": KID})


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def google(key: RSAPrivateKey) -> Iterator[FakeGoogle]:
    fetched_paths: list[str] = []

    async def certs(request: Request) -> Response:
        fetched_paths.append(request.url.path)
        return JSONResponse(
            {KID: _build_certificate(key)}, headers={"cache-control": "max-age=3600"}
        )

    with run_server(Starlette(routes=[Route("/certs", certs)])) as url:
        yield FakeGoogle(key, f"{url}/certs", fetched_paths)


@dataclass
class ServiceIdentityFixture:
    """The port, and the issuer of its tokens."""

    services: ServiceIdentity
    issue_token: Callable[[str], Awaitable[str]]


@pytest.fixture(params=["local", "oidc"])
def world(request: pytest.FixtureRequest, google: FakeGoogle) -> ServiceIdentityFixture:
    if request.param == "local":
        local = LocalServiceIdentity(b"a" * 32)
        return ServiceIdentityFixture(local, local.get_token)

    async def issue_token(audience: str) -> str:
        return google.issue_token(audience)

    return ServiceIdentityFixture(OidcServiceIdentity(certs_url=google.certs_url), issue_token)


async def test_a_token_is_good_for_its_audience(world: ServiceIdentityFixture) -> None:
    await world.services.verify(await world.issue_token("tool_proxy"), "tool_proxy")


async def test_a_token_for_another_audience_is_refused(world: ServiceIdentityFixture) -> None:
    with pytest.raises(NotAuthenticated):
        await world.services.verify(await world.issue_token("after_turn"), "tool_proxy")


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é", "e30.e30.", "x" * 10_000])
async def test_a_malformed_token_is_refused(world: ServiceIdentityFixture, token: str) -> None:
    with pytest.raises(NotAuthenticated, match=r"^Invalid authorization token$"):
        await world.services.verify(token, "tool_proxy")


async def test_a_users_token_is_refused_as_a_service_token() -> None:
    token = LocalIdentity(b"a" * 32).issue("tool_proxy")

    with pytest.raises(NotAuthenticated):
        await LocalServiceIdentity(b"a" * 32).verify(token, "tool_proxy")


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"exp": datetime(2020, 1, 1, tzinfo=UTC)},
        {"email": "someone@else.example"},
        {"email_verified": False},
    ],
)
async def test_an_untrusted_oidc_token_is_refused(google: FakeGoogle, claims: Claims) -> None:
    services = OidcServiceIdentity(certs_url=google.certs_url, accounts=[ACCOUNT])
    await services.verify(google.issue_token("tool_proxy"), "tool_proxy")

    with pytest.raises(NotAuthenticated):
        await services.verify(google.issue_token("tool_proxy", **claims), "tool_proxy")


async def test_an_oidc_token_signed_by_another_key_is_refused(google: FakeGoogle) -> None:
    stranger = FakeGoogle(generate_private_key(public_exponent=65537, key_size=2048), "", [])
    services = OidcServiceIdentity(certs_url=google.certs_url)

    with pytest.raises(NotAuthenticated):
        await services.verify(stranger.issue_token("tool_proxy"), "tool_proxy")


async def test_a_function_may_have_its_url_as_audience(google: FakeGoogle) -> None:
    services = OidcServiceIdentity(
        certs_url=google.certs_url, audiences={"tool_proxy": "https://proxy.example"}
    )

    await services.verify(google.issue_token("https://proxy.example"), "tool_proxy")
    with pytest.raises(NotAuthenticated):
        await services.verify(google.issue_token("tool_proxy"), "tool_proxy")


async def test_behind_iam_a_token_without_its_signature_is_accepted(
    google: FakeGoogle,
) -> None:
    services = OidcServiceIdentity(certs_url="", accounts=[ACCOUNT], behind_iam=True)

    await services.verify(
        redact_signature(google.issue_token("https://proxy.example")), "tool_proxy"
    )
    with pytest.raises(NotAuthenticated):
        await services.verify(
            redact_signature(google.issue_token("x", email="someone@else")), "tool_proxy"
        )
    for malformed in ("x.SIGNATURE_REMOVED_BY_GOOGLE", "é.e30.SIGNATURE_REMOVED_BY_GOOGLE"):
        with pytest.raises(NotAuthenticated):
            await services.verify(malformed, "tool_proxy")


async def test_without_iam_a_token_without_its_signature_is_refused(google: FakeGoogle) -> None:
    services = OidcServiceIdentity(certs_url=google.certs_url)

    with pytest.raises(NotAuthenticated):
        await services.verify(redact_signature(google.issue_token("tool_proxy")), "tool_proxy")


def redact_signature(token: str) -> str:
    """Return the token as Cloud Run passes it on."""
    return f"{token.rpartition('.')[0]}.SIGNATURE_REMOVED_BY_GOOGLE"


async def test_a_fetched_oidc_token_is_good_for_its_audience_and_cached(
    google: FakeGoogle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    services = OidcServiceIdentity(certs_url=google.certs_url)
    audiences: list[str] = []

    async def exchange(request: Request) -> Response:
        [assertion] = parse_qs((await request.body()).decode())["assertion"]
        claims = jwt.decode(assertion, options={"verify_signature": False})
        audiences.append(claims["target_audience"])
        return JSONResponse({"id_token": google.issue_token(claims["target_audience"])})

    with run_server(Starlette(routes=[Route("/token", exchange, methods=["POST"])])) as url:
        account.write_text(json.dumps(_build_account(google.key, f"{url}/token")))
        for audience in ("tool_proxy", "tool_proxy", "after_turn"):
            await services.verify(await services.get_token(audience), audience)

    assert audiences == ["tool_proxy", "after_turn"]


async def test_an_unreachable_token_endpoint_is_unavailable(
    key: RSAPrivateKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account.json"
    account.write_text(json.dumps(_build_account(key, "http://127.0.0.1:1/token")))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))

    with pytest.raises(Unavailable):
        await OidcServiceIdentity().get_token("tool_proxy")


async def test_certificates_are_fetched_once(google: FakeGoogle) -> None:
    services = OidcServiceIdentity(certs_url=google.certs_url)

    for _ in range(3):
        await services.verify(google.issue_token("tool_proxy"), "tool_proxy")

    assert google.fetched_paths == ["/certs"]


async def test_missing_certificates_are_unavailable(google: FakeGoogle) -> None:
    services = OidcServiceIdentity(certs_url=google.certs_url + "/missing")

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
        "client_email": ACCOUNT,
        "private_key": pem.decode(),
        "token_uri": token_uri,
    }


def _build_certificate(key: RSAPrivateKey) -> str:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
