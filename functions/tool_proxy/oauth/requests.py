"""OAuth 2 requests with PKCE, and the parsing of token responses; this module sends nothing.

Also called: authorization code flow, OAuth client.
"""

import json
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shared.domain.apps.connection import OauthClient, Tokens
from shared.domain.errors import KeepsakeError, Unavailable
from shared.domain.value import value
from shared.integrations.service import ConnectionSpec, OAuthProvider, build_basic_auth
from shared.ports import EgressRequest, EgressResponse

if TYPE_CHECKING:
    from oauthlib.oauth2 import WebApplicationClient

TIMEOUT_S = 15.0
MAX_TOKEN_LIFETIME = timedelta(days=3_650)
Token = Annotated[str, StringConstraints(pattern=r"^[!-~]+$", max_length=8_192)]
_INVALID_GRANT_ERRORS = ("invalid_grant", "invalid_request", "bad_refresh_token")
"""The standard's error for an expired grant, and those of X and GitHub."""


class OAuthError(KeepsakeError):
    """The provider refuses a request; `is_expired` if the code or the token is of no use any more."""

    def __init__(self, error: str) -> None:
        super().__init__(f"The provider answered {error!r}.")
        self.is_expired = error in _INVALID_GRANT_ERRORS


@value
class TokenResponse:
    """Tokens of a provider; `scopes` is None if it names none, which means all that were asked for."""

    tokens: Tokens
    scopes: frozenset[str] | None


def build_authorize_url(
    spec: ConnectionSpec, client: OauthClient, *, state: str, verifier: str, redirect_uri: str
) -> str:
    """Return the provider's page where a user allows access."""
    oauth = _build_oauth_client(client)
    url = oauth.prepare_request_uri(
        spec.provider.authorize_url,
        redirect_uri=redirect_uri,
        scope=[*spec.extra_scopes, *spec.scopes],
        state=state,
        code_challenge=oauth.create_code_challenge(verifier, "S256"),
        code_challenge_method="S256",
        **spec.provider.authorize_params,
    )
    return with_base_url(client, url)


def create_verifier() -> str:
    """Create the secret of PKCE: 64 random characters."""
    return str(_build_oauth_client(OauthClient(id="", secret="")).create_code_verifier(64))


def build_code_request(
    provider: OAuthProvider, client: OauthClient, *, code: str, verifier: str, redirect_uri: str
) -> EgressRequest:
    """Build the request that exchanges a code for tokens."""
    build = partial(
        _build_oauth_client(client).prepare_request_body,
        code=code,
        redirect_uri=redirect_uri,
        code_verifier=verifier,
    )
    return _build_token_request(provider, client, build)


def build_refresh_request(
    provider: OAuthProvider, client: OauthClient, refresh_token: str
) -> EgressRequest:
    """Build the request that exchanges a refresh token for new tokens."""
    build = partial(
        _build_oauth_client(client).prepare_refresh_body,
        refresh_token=refresh_token,
        client_id=client.id,
        **provider.refresh_params,
    )
    return _build_token_request(provider, client, build)


def _build_token_request(provider: OAuthProvider, client: OauthClient, build: Any) -> EgressRequest:
    headers = {"Accept": "application/json"}
    if provider.client_in == "header":
        headers["Authorization"] = build_basic_auth(client)
        body = build(include_client_id=False)
    else:
        body = build(include_client_id=True, client_secret=client.secret)
    kind = "application/x-www-form-urlencoded"
    if provider.body_format == "json":
        kind, body = "application/json", json.dumps(dict(parse_qsl(body)))
    return EgressRequest(
        method="POST",
        url=with_base_url(client, provider.token_url),
        headers={**headers, "Content-Type": kind},
        body=body.encode(),
        timeout_s=TIMEOUT_S,
    )


def parse_token_response(
    response: EgressResponse, *, now: datetime, previous: Tokens | None = None
) -> TokenResponse:
    """Parse tokens. Without a new refresh token the one of `previous` stays.

    Raises OAuthError, and Unavailable for a response that cannot be parsed.
    """
    from oauthlib.oauth2 import MissingTokenError, OAuth2Error

    try:
        body = response.body.decode(errors="replace")
        answer = _build_oauth_client(OauthClient(id="", secret="")).parse_request_body_response(
            body
        )
        return _to_token_response(_TokenFields.model_validate(dict(answer)), now, previous)
    except MissingTokenError as error:
        raise Unavailable("The provider gave no token") from error
    except OAuth2Error as refusal:
        raise OAuthError(str(refusal.error)[:100]) from None  # the cause may carry what was sent
    except (ValueError, AttributeError, TypeError):
        raise Unavailable("The provider's answer cannot be read") from None


class _TokenFields(BaseModel):
    """A token response as oauthlib parses it; a token has to fit into a header."""

    model_config = ConfigDict(defer_build=True)

    access_token: Token
    refresh_token: Token | None = None
    expires_in: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    scope: list[str] | None = None


def _to_token_response(
    answer: _TokenFields, now: datetime, previous: Tokens | None
) -> TokenResponse:
    lifetime = timedelta(seconds=min(answer.expires_in or 0, MAX_TOKEN_LIFETIME.total_seconds()))
    return TokenResponse(
        tokens=Tokens(
            access_token=answer.access_token,
            refresh_token=answer.refresh_token or (previous.refresh_token if previous else None),
            expires_at=now + lifetime if lifetime else None,
        ),
        scopes=frozenset(" ".join(answer.scope).replace(",", " ").split())
        if answer.scope
        else None,
    )


def with_base_url(client: OauthClient, url: str) -> str:
    """Replace the origin of an address by the client's base url, if it has one."""
    if client.base_url is None:
        return url
    base, parts = urlsplit(client.base_url), urlsplit(url)
    return urlunsplit((base.scheme, base.netloc, parts.path, parts.query, ""))


def _build_oauth_client(client: OauthClient) -> "WebApplicationClient":
    from oauthlib.oauth2 import WebApplicationClient

    return WebApplicationClient(client.id)
