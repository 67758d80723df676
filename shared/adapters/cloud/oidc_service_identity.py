"""ServiceIdentity on OIDC tokens that Google signs."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import anyio

from shared.domain.errors import NotAuthenticated, Unavailable

CERTS_URL = "https://www.googleapis.com/oauth2/v1/certs"
ISSUERS = ("https://accounts.google.com", "accounts.google.com")
REMOVED_SIGNATURE = ".SIGNATURE_REMOVED_BY_GOOGLE"
"""The signature of a checked token: cloud.google.com/run/docs/troubleshooting."""
TIMEOUT_S = 10.0
INVALID_TOKEN = "Invalid authorization token"  # noqa: S105  a message, no token


class OidcServiceIdentity:
    """Fetches tokens from the platform and verifies those of others.

    A function's audience is its name (a custom audience of its service), unless `audiences` names
    another, such as the service's URL, which is what Eventarc asks for. With `accounts`, only these
    service accounts may call. `behind_iam`: the platform lets only invokers of this very service
    in, and hands their tokens on without the signature that it checked.
    """

    def __init__(
        self,
        *,
        audiences: Mapping[str, str] | None = None,
        accounts: Collection[str] = (),
        behind_iam: bool = False,
        certs_url: str = CERTS_URL,
    ) -> None:
        self._audiences = audiences or {}
        self._accounts = accounts
        self._behind_iam = behind_iam
        self._certs_url = certs_url
        self._credentials: dict[str, Any] = {}

    async def get_token(self, audience: str) -> str:
        return await anyio.to_thread.run_sync(
            self._fetch_token, self._audiences.get(audience, audience)
        )

    async def verify(self, token: str, audience: str) -> None:
        if self._behind_iam and token.endswith(REMOVED_SIGNATURE):
            claims = _decode_claims(token)
        else:
            expected = self._audiences.get(audience, audience)
            claims = await anyio.to_thread.run_sync(self._verify_claims, token, expected)
        if claims.get("iss") not in ISSUERS or not self._can_call(claims):
            raise NotAuthenticated(INVALID_TOKEN)

    def _can_call(self, claims: Mapping[str, Any]) -> bool:
        if not self._accounts:
            return True
        return claims.get("email_verified") is True and claims.get("email") in self._accounts

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

    def _verify_claims(self, token: str, audience: str) -> Mapping[str, Any]:
        from google.auth.exceptions import TransportError
        from google.oauth2 import id_token

        try:
            claims: Mapping[str, Any] = id_token.verify_token(
                token, self._request, audience=audience, certs_url=self._certs_url
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
    """Read a token whose signature and audience are already checked."""
    from google.auth import jwt

    try:
        claims: Mapping[str, Any] = jwt.decode(token, verify=False)
    except ValueError as error:
        raise NotAuthenticated(INVALID_TOKEN) from error
    return claims
