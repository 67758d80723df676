"""Google's tokens on loopback: an issuer that service accounts, Pub/Sub, Cloud Tasks and Eventarc ask."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives import serialization
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.domain.apps.service_calls import ServiceCalls, Via
from tests.servers.fcm import ACCESS_TOKEN
from tests.servers.google import KID, build_certificate, build_key

LIFETIME = timedelta(hours=1)


class GoogleTokens:
    """Issues ID tokens of a project's accounts, signed by the key that /certs shows."""

    def __init__(self, project: str, calls: ServiceCalls) -> None:
        self._project = project
        self._calls = calls
        self._key = build_key("google")
        self._audiences: dict[str, str] = {}

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[Route("/certs", self._show_certificates), Route("/token", self._exchange, methods=["POST"])]
        )  # fmt: skip

    def set_audiences(self, audiences: dict[str, str]) -> None:
        """Name the functions whose audience is not their name."""
        self._audiences = audiences

    def issue(self, email: str, audience: str) -> str:
        now = datetime.now(UTC)
        claims = {
            "iss": "https://accounts.google.com",
            "aud": audience,
            "email": email,
            "email_verified": True,
            "iat": now,
            "exp": now + LIFETIME,
        }
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": KID})

    async def get_delivery_token(self, via: Via, function: str) -> str:
        """Return the token of an event or a trigger, of the account of its row in the table of calls."""
        caller = self._calls.find_caller(function, via)
        account = self._calls.get_account(caller, function)
        return self.issue(self.to_email(account), self._audiences.get(function, function))

    def to_email(self, account: str) -> str:
        return f"{account}@{self._project}.iam.gserviceaccount.com"

    def write_credentials(self, folder: Path, account: str, url: str) -> Path:
        """Write the key file of an account, whose tokens come from `url`."""
        pem = self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        path = folder / f"{account}.json"
        fields = {
            "type": "service_account",
            "project_id": self._project,
            "private_key_id": KID,
            "private_key": pem.decode(),
            "client_email": self.to_email(account),
            "client_id": "1",
            "token_uri": f"{url}/token",
        }
        path.write_text(json.dumps(fields))
        return path

    async def _show_certificates(self, _: Request) -> Response:
        return JSONResponse({KID: build_certificate(self._key)})

    async def _exchange(self, request: Request) -> Response:
        """Answer what an account signed: an ID token for an audience, or else an access token."""
        [assertion] = parse_qs((await request.body()).decode())["assertion"]
        claims: dict[str, Any] = jwt.decode(
            assertion, self._key.public_key(), algorithms=["RS256"], options={"verify_aud": False}
        )
        if "target_audience" in claims:
            return JSONResponse({"id_token": self.issue(claims["iss"], claims["target_audience"])})
        return JSONResponse({"access_token": ACCESS_TOKEN, "expires_in": 3600, "token_type": "Bearer"})  # fmt: skip
