"""ServiceIdentity on OIDC tokens that Google signs.

Also called: service-to-service authentication, service account.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import anyio

from shared.domain.apps.service_calls import ServiceCalls
from shared.domain.errors import NotAuthenticated, Unavailable
from shared.ports import Clock
from shared.security.service_claims import (
    CLOCK_SKEW,
    INVALID_TOKEN,
    ServiceClaims,
    check_claims,
    names_service,
)

CERTS_URL = "https://www.googleapis.com/oauth2/v1/certs"
ISSUERS = ("https://accounts.google.com", "accounts.google.com")
REMOVED_SIGNATURE = ".SIGNATURE_REMOVED_BY_GOOGLE"
"""The signature of a checked token: cloud.google.com/run/docs/troubleshooting."""
TIMEOUT_S = 10.0
MAX_VERIFIED_TOKENS = 100


class OidcServiceIdentity:
    """Fetches tokens from the platform and verifies those of others.

    A function's audience is its name (a custom audience of its service), unless `audiences` names
    another, such as the service's URL, which is what Eventarc asks for. Only the accounts of its
    rows in `calls` may call a function; they belong to `project`.

    `behind_iam`: Cloud Run checks the signature of an `Authorization` header before us and takes it
    away. Pub/Sub, Cloud Tasks and Eventarc have no other header, so we accept their tokens without a
    signature there, for any URL of the service as audience: which one they ask for is theirs to choose, and Cloud
    Run has compared it. Functions that call functions send the token twice, and we check its signature.
    """

    def __init__(
        self,
        calls: ServiceCalls,
        clock: Clock,
        *,
        project: str,
        audiences: Mapping[str, str] | None = None,
        behind_iam: bool = False,
        certs_url: str = CERTS_URL,
    ) -> None:
        self._calls = calls
        self._clock = clock
        self._project = project
        self._audiences = audiences or {}
        self._behind_iam = behind_iam
        self._certs_url = certs_url
        self._credentials: dict[str, Any] = {}
        self._verified_claims: dict[tuple[str, str], Mapping[str, Any]] = {}

    async def get_token(self, caller: str, audience: str) -> str:
        return await anyio.to_thread.run_sync(
            self._fetch_token, self._audiences.get(audience, audience)
        )

    async def verify(self, token: str, audience: str) -> None:
        expected = self._audiences.get(audience, audience)
        is_carried = self._behind_iam and token.endswith(REMOVED_SIGNATURE)
        if is_carried:
            claims = _decode_claims(token)
        else:
            claims = await self._verify_once(token, expected)
        service_claims = _to_service_claims(claims)
        if is_carried and names_service(service_claims.audience, audience.replace("_", "-")):
            expected = service_claims.audience
        check_claims(
            service_claims,
            audience=expected,
            accounts=self._list_emails(audience, is_carried=is_carried),
            now=self._clock.now(),
        )

    async def _verify_once(self, token: str, audience: str) -> Mapping[str, Any]:
        """Check a signature once: a function sends the same token for up to an hour."""
        key = (token, audience)
        if key not in self._verified_claims:
            claims = await anyio.to_thread.run_sync(self._verify_signature, token, audience)
            if len(self._verified_claims) >= MAX_VERIFIED_TOKENS:
                self._verified_claims.clear()
            self._verified_claims[key] = claims
        return self._verified_claims[key]

    def _list_emails(self, function: str, *, is_carried: bool) -> list[str]:
        accounts = self._calls.list_accounts(function, is_carried=is_carried)
        return [f"{account}@{self._project}.iam.gserviceaccount.com" for account in accounts]

    def _fetch_token(self, audience: str) -> str:
        from google.auth.exceptions import GoogleAuthError
        from google.oauth2 import id_token

        try:
            if audience not in self._credentials:
                self._credentials[audience] = id_token.fetch_id_token_credentials(
                    audience, self._request
                )
            if not self._credentials[audience].valid:
                self._credentials[audience].refresh(self._request)
        except GoogleAuthError as error:
            raise Unavailable("No service token is available") from error
        return str(self._credentials[audience].token)

    def _verify_signature(self, token: str, audience: str) -> Mapping[str, Any]:
        from google.auth.exceptions import TransportError
        from google.oauth2 import id_token

        try:
            claims: Mapping[str, Any] = id_token.verify_token(
                token,
                self._request,
                audience=audience,
                certs_url=self._certs_url,
                clock_skew_in_seconds=int(CLOCK_SKEW.total_seconds()),
            )
        except TransportError as error:
            raise Unavailable("The certificates of Google cannot be fetched") from error
        except ValueError as error:
            raise NotAuthenticated(INVALID_TOKEN) from error
        return claims

    @cached_property
    def _request(self) -> Any:
        """Build an HTTP client that caches certificates for as long as their headers allow."""
        from functools import partial

        import requests
        from cachecontrol import CacheControl
        from google.auth.transport.requests import Request

        return partial(Request(CacheControl(requests.Session())), timeout=TIMEOUT_S)


def _decode_claims(token: str) -> Mapping[str, Any]:
    """Read a token whose signature is already checked."""
    from google.auth import jwt

    try:
        claims: Mapping[str, Any] = jwt.decode(token, verify=False)
    except ValueError as error:
        raise NotAuthenticated(INVALID_TOKEN) from error
    return claims


def _to_service_claims(claims: Mapping[str, Any]) -> ServiceClaims:
    """Raises NotAuthenticated unless Google issued the token to an account that it verified."""
    expires_at = claims.get("exp")
    if (
        claims.get("iss") not in ISSUERS
        or claims.get("email_verified") is not True
        or not isinstance(expires_at, int)
    ):
        raise NotAuthenticated(INVALID_TOKEN)
    return ServiceClaims(
        audience=str(claims.get("aud")),
        account=str(claims.get("email")),
        expires_at=datetime.fromtimestamp(expires_at, UTC),
    )
