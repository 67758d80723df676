"""Internal entry points over HTTP: only the callers of their rows in routes.json get in (S8)."""

import hmac
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from jwt.utils import base64url_encode
from starlette.applications import Starlette
from starlette.routing import Mount

from functions.chat.api.internal_routes import AFTER_TURN_ROUTES, CLOSE_RUN_ROUTES, STRETCH_ROUTES
from functions.imports.import_routes import IMPORT_FILES_ROUTES
from functions.library.account.account import ERASE_ROUTES
from functions.media.files.file_routes import READ_ROUTES
from functions.media.live.ending_routes import END_ROUTES
from functions.media.sound.audio_routes import TRANSCRIBE_ROUTES
from functions.media.uploads.upload_routes import EXPIRE_ROUTES
from functions.notifications.delivery_routes import DELIVER_ROUTES, DIGEST_ROUTES
from functions.process_conversation.days.summary_routes import DAY_ROUTES
from functions.process_conversation.processing.processing_routes import (
    PROCESS_ROUTES,
    TRIGGER_ROUTES,
)
from functions.process_conversation.upkeep.mark_owner import MARKING_ROUTES
from functions.process_conversation.upkeep.reindex_routes import REINDEX_ROUTES
from functions.process_conversation.upkeep.renew_texts import RENEWAL_ROUTES
from functions.process_conversation.upkeep.upkeep_routes import (
    DEAD_LETTER_ROUTES,
    FINISH_ROUTES,
    RETENTION_ROUTES,
    SWEEP_ROUTES,
)
from functions.tool_proxy.calls.call_routes import ROUTES as CALL_ROUTES
from functions.tool_proxy.calls.service_routes import ROUTES as SERVICE_ROUTES
from functions.tool_proxy.webhooks.webhook_routes import DELIVERY_ROUTES, QUEUE_ROUTES
from infra.local.routing import load_entry_points
from shared.adapters.cloud.oidc_service_identity import OidcServiceIdentity
from shared.adapters.system_clock import SystemClock
from shared.edge.declare.routes import Route
from shared.edge.serve.http import build_application
from shared.ports import Clock, Identity, ServiceIdentity
from tests.fixtures.callers import IDENTITY, SERVICE_CALLS, SERVICE_IDENTITY
from tests.servers import run_server
from tests.servers.google import KID, PROJECT, FakeGoogle, build_key, run_google, to_email

INTERNAL_ROUTES: Mapping[str, Sequence[Route[Any]]] = {
    "after_turn": AFTER_TURN_ROUTES,
    "apply_retention": RETENTION_ROUTES,
    "close_run": CLOSE_RUN_ROUTES,
    "deliver_digest": DIGEST_ROUTES,
    "deliver_notification": DELIVER_ROUTES,
    "deliver_webhook": DELIVERY_ROUTES,
    "end_live": END_ROUTES,
    "end_stretch": STRETCH_ROUTES,
    "erase_account": ERASE_ROUTES,
    "expire_upload": EXPIRE_ROUTES,
    "import_files": IMPORT_FILES_ROUTES,
    "finish_merge": FINISH_ROUTES,
    "mark_owner": MARKING_ROUTES,
    "on_conversation_processed": QUEUE_ROUTES,
    "on_conversation_written": TRIGGER_ROUTES,
    "process_conversation": PROCESS_ROUTES,
    "read_file": READ_ROUTES,
    "reindex_users": REINDEX_ROUTES,
    "renew_texts": RENEWAL_ROUTES,
    "record_dead_letter": DEAD_LETTER_ROUTES,
    "summarise_day": DAY_ROUTES,
    "sweep": SWEEP_ROUTES,
    "tool_proxy": (*CALL_ROUTES, *SERVICE_ROUTES),
    "transcribe_audio": TRANSCRIBE_ROUTES,
}
REFUSED = (401, 403)


@dataclass(frozen=True)
class AuthOnlyDeps:
    """Verifies callers and can do nothing else: a handler that is reached fails."""

    service_identity: ServiceIdentity
    identity: Identity = IDENTITY
    clock: Clock = field(default_factory=SystemClock)


@dataclass(frozen=True)
class InternalFunctions:
    """All internal functions on one server, and Google, whose tokens they accept."""

    http: httpx.Client
    google: FakeGoogle

    def post(self, function: str, token: str | None, path: str = "/") -> int:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return self.http.post(f"/{function}{path}", headers=headers, json={}).status_code


@pytest.fixture(scope="module")
def google() -> Iterator[FakeGoogle]:
    with run_google() as google:
        yield google


@pytest.fixture(scope="module", params=["outside of IAM", "behind IAM"])
def cloud(request: pytest.FixtureRequest, google: FakeGoogle) -> Iterator[InternalFunctions]:
    identity = OidcServiceIdentity(
        SERVICE_CALLS,
        SystemClock(),
        project=PROJECT,
        certs_url=google.certs_url,
        behind_iam=request.param == "behind IAM",
    )
    with serve(identity) as http:
        yield InternalFunctions(http, google)


@pytest.fixture(scope="module")
def embedded(google: FakeGoogle) -> Iterator[InternalFunctions]:
    with serve(SERVICE_IDENTITY) as http:
        yield InternalFunctions(http, google)


@contextmanager
def serve(identity: ServiceIdentity) -> Iterator[httpx.Client]:
    with (
        run_server(build_internal_functions(identity)) as url,
        httpx.Client(base_url=url, timeout=30) as http,
    ):
        yield http


def build_internal_functions(identity: ServiceIdentity) -> Starlette:
    deps = AuthOnlyDeps(identity)
    return Starlette(
        routes=[
            Mount(f"/{name}", build_application(name, routes, deps))
            for name, routes in INTERNAL_ROUTES.items()
        ]
    )


def test_every_internal_entry_point_is_in_this_test_s8() -> None:
    internal = {entry.name for entry in load_entry_points() if entry.access == "internal"}

    assert internal == INTERNAL_ROUTES.keys()


def get_account(function: str) -> str:
    return next(row.account for row in SERVICE_CALLS.rows if row.function == function)


def list_other_accounts(function: str) -> list[str]:
    """List the accounts of all other calls, and of functions that call nobody."""
    others = [row.account for row in SERVICE_CALLS.rows if row.function != function]
    return [*others, "fn-library", "fn-notifications", "caller"]


Forge = Callable[[FakeGoogle, str], str | None]


def _issue(google: FakeGoogle, function: str, **claims: Any) -> str:
    return google.issue_token(function, account=get_account(function), **claims)


def _issue_without_algorithm(google: FakeGoogle, function: str) -> str:
    claims = jwt.decode(_issue(google, function), options={"verify_signature": False})
    return jwt.encode(claims, "", algorithm="none", headers={"kid": KID})


def _sign_with_public_key(google: FakeGoogle, function: str) -> str:
    """Sign by HMAC with what everybody knows, for a verifier that believes the header."""
    public_key = google.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    header = json.dumps({"alg": "HS256", "typ": "JWT", "kid": KID}).encode()
    claims = _issue(google, function).split(".")[1]
    signed = f"{base64url_encode(header).decode()}.{claims}"
    signature = hmac.digest(public_key, signed.encode(), "sha256")
    return f"{signed}.{base64url_encode(signature).decode()}"


def _remove_signature(google: FakeGoogle, function: str, **claims: Any) -> str:
    return f"{_issue(google, function, **claims).rpartition('.')[0]}.SIGNATURE_REMOVED_BY_GOOGLE"


LAST_YEAR = datetime.now(UTC) - timedelta(days=365)
FORGERIES: Mapping[str, Forge] = {
    "no token": lambda _google, _function: None,
    "a word": lambda _google, _function: "open",
    "a user's token": lambda _google, _function: IDENTITY.issue("alice"),
    "a signature of a stranger": lambda _google, function: _issue(
        FakeGoogle(build_key("stranger"), "", []), function
    ),
    "a signature by the public key": _sign_with_public_key,
    "no algorithm": _issue_without_algorithm,
    "no signature": lambda google, function: f"{_issue(google, function).rpartition('.')[0]}.",
    "expired": lambda google, function: _issue(google, function, exp=LAST_YEAR),
    "another audience": lambda google, function: _issue(google, function, aud="https://x.run.app"),
    "another issuer": lambda google, function: _issue(google, function, iss="https://evil.example"),
    "an unverified e-mail": lambda google, function: _issue(google, function, email_verified=False),
    "another project": lambda google, function: _issue(
        google, function, email=f"{get_account(function)}@other.iam.gserviceaccount.com"
    ),
    "the platform's mark, expired": lambda google, function: _remove_signature(
        google, function, exp=LAST_YEAR
    ),
    "the platform's mark, another audience": lambda google, function: _remove_signature(
        google, function, aud="https://x.run.app"
    ),
    "the platform's mark, another account": lambda google, function: _remove_signature(
        google, function, email=to_email("fn-library")
    ),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("function", INTERNAL_ROUTES)
def test_an_untrusted_token_is_refused_by_every_internal_entry_point_s8(
    cloud: InternalFunctions, function: str, forgery: str
) -> None:
    token = FORGERIES[forgery](cloud.google, function)

    for route in INTERNAL_ROUTES[function]:
        assert cloud.post(function, token, route.path) in REFUSED


@pytest.mark.parametrize("function", INTERNAL_ROUTES)
def test_only_the_callers_of_an_entry_point_get_in_s8(
    cloud: InternalFunctions, function: str
) -> None:
    for account in list_other_accounts(function):
        token = cloud.google.issue_token(function, account=account)
        assert cloud.post(function, token) == 403
    for row in SERVICE_CALLS.rows:
        if row.function == function:
            token = cloud.google.issue_token(function, account=row.account)
            assert cloud.post(function, token) not in REFUSED


def test_no_mark_of_the_platform_opens_the_tool_proxy_s8(cloud: InternalFunctions) -> None:
    """Our own functions send their token twice, so its signature reaches us."""
    token = _remove_signature(cloud.google, "tool_proxy")

    assert cloud.post("tool_proxy", token) in REFUSED


@pytest.mark.parametrize("function", INTERNAL_ROUTES)
def test_embedded_entry_points_follow_the_same_table_s8(
    embedded: InternalFunctions, function: str
) -> None:
    next_hour = datetime.now(UTC) + timedelta(hours=1)
    account = get_account(function)

    def issue(account: str, audience: str, expires_at: datetime = next_hour) -> str:
        return SERVICE_IDENTITY.issue_token(account, audience, expires_at=expires_at)

    assert embedded.post(function, issue(account, function)) not in REFUSED
    for token in (None, "open", IDENTITY.issue("alice"), _issue(embedded.google, function)):
        assert embedded.post(function, token) == 401
    assert embedded.post(function, issue(account, function, LAST_YEAR)) == 401
    assert embedded.post(function, issue(account, "chat")) == 401
    for other in list_other_accounts(function):
        assert embedded.post(function, issue(other, function)) == 403
