"""Google's issuer of service tokens: certificates over HTTP, and tokens that their key signs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers import run_server

KID = "k1"
PROJECT = "demo"


@dataclass
class FakeGoogle:
    """A certificate endpoint and the key behind it."""

    key: RSAPrivateKey
    certs_url: str
    fetched_paths: list[str]

    def issue_token(self, audience: str, *, account: str = "fn-chat", **claims: Any) -> str:
        now = datetime.now(UTC)
        standard = {
            "iss": "https://accounts.google.com",
            "aud": audience,
            "email": to_email(account),
            "email_verified": True,
            "iat": now,
            "exp": now + timedelta(hours=1),
        }
        return jwt.encode(standard | claims, self.key, algorithm="RS256", headers={"kid": KID})


def to_email(account: str) -> str:
    return f"{account}@{PROJECT}.iam.gserviceaccount.com"


@contextmanager
def run_google() -> Iterator[FakeGoogle]:
    key, fetched_paths = build_key("google"), list[str]()

    async def certs(request: Request) -> Response:
        fetched_paths.append(request.url.path)
        return JSONResponse(
            {KID: build_certificate(key)}, headers={"cache-control": "max-age=3600"}
        )

    with run_server(Starlette(routes=[Route("/certs", certs)])) as url:
        yield FakeGoogle(key, f"{url}/certs", fetched_paths)


@cache
def build_key(owner: str) -> RSAPrivateKey:  # noqa: ARG001  each owner has a key of their own
    return generate_private_key(public_exponent=65537, key_size=2048)


def build_certificate(key: RSAPrivateKey) -> str:
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
