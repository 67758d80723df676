"""OAuth 2 provider on loopback by RFC 6749 and 7636, and a service behind it."""

import hashlib
import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "keepsake-client", "s3cret/+"
ProviderAnswer = Callable[[Request], Awaitable[Response]]


PROVIDER_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "google_calendar": {},
    "gmail": {},
    "whoop": {
        "authorize_path": "/oauth/oauth2/auth",
        "token_path": "/oauth/oauth2/token",
        "revoke_path": "/developer/v2/user/access",
        "rotates": True,
    },
    "notion": {
        "authorize_path": "/v1/oauth/authorize",
        "token_path": "/v1/oauth/token",
        "revoke_path": "/v1/oauth/revoke",
        "client_in": "header",
        "tokens_as": "json",
        "lasts_s": None,
    },
    "x": {
        "authorize_path": "/i/oauth2/authorize",
        "token_path": "/2/oauth2/token",
        "revoke_path": "/2/oauth2/revoke",
        "client_in": "header",
        "rotates": True,
        "lasts_s": 7200,
    },
    "github": {
        "authorize_path": "/login/oauth/authorize",
        "token_path": "/login/oauth/access_token",
        "revoke_path": f"/applications/{CLIENT_ID}/grant",
        "lasts_s": None,
    },
}
"""How each service is connected, by its documentation."""


@dataclass
class ProviderRequest:
    """A request to the service behind the provider."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: Mapping[str, str]


@dataclass
class FakeProvider:
    """A provider that issues codes and tokens; with `rotates`, a refresh token works once.

    `answers` are the service's, by method and path, in turn, the last one for good; each asks for
    an access token that holds. What must come with a token request is checked here.
    """

    authorize_path: str = "/o/oauth2/v2/auth"
    token_path: str = "/token"
    revoke_path: str = "/revoke"
    client_in: str = "body"
    tokens_as: str = "form"
    rotates: bool = False
    lasts_s: int | None = 3600
    granted_scope: str | None = None
    answers: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)
    requests: list[ProviderRequest] = field(default_factory=list)
    refresh_count: int = 0
    revoked_tokens: list[str] = field(default_factory=list)
    access_tokens: set[str] = field(default_factory=set)
    refresh_tokens: set[str] = field(default_factory=set)
    failure_status: int | None = None
    refresh_error: str | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens_issued: int = 0

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route(self.authorize_path, self._authorize, methods=["GET"]),
                Route(self.token_path, self._exchange_token, methods=["POST"]),
                Route(self.revoke_path, self._revoke, methods=["POST", "DELETE"]),
                Route("/{path:path}", self._serve, methods=["GET", "POST", "PATCH", "DELETE"]),
            ]
        )

    def issue(self) -> dict[str, Any]:
        """Issue tokens, as in the provider's response."""
        self.tokens_issued += 1
        access, refresh = f"access-{self.tokens_issued}", f"refresh-{self.tokens_issued}"
        self.access_tokens.add(access)
        self.refresh_tokens.add(refresh)
        scope = {} if self.granted_scope is None else {"scope": self.granted_scope}
        expiry = {} if self.lasts_s is None else {"expires_in": self.lasts_s}
        return {
            "access_token": access,
            "refresh_token": refresh,
            "token_type": "Bearer",
            **expiry,
            **scope,
        }

    async def _authorize(self, request: Request) -> Response:
        """Redirect as for a user who allows everything at once."""
        params = dict(request.query_params)
        assert params["response_type"] == "code"
        assert params["client_id"] == CLIENT_ID
        assert params["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = params
        callback_query = urlencode({"code": code, "state": params["state"]})
        return RedirectResponse(f"{params['redirect_uri']}?{callback_query}")

    async def _exchange_token(self, request: Request) -> Response:
        if self.failure_status:
            return Response("<html>oops", status_code=self.failure_status)
        form = self._parse_form(request, (await request.body()).decode())
        if not self._is_our_client(request, form):
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        if form["grant_type"] == "refresh_token":
            return self._refresh(form["refresh_token"])
        authorization = self.codes.pop(form["code"], None)
        if authorization is None or not _is_same_client(authorization, form):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        return JSONResponse(self.issue())

    def _refresh(self, token: str) -> Response:
        self.refresh_count += 1
        if self.refresh_error:
            return JSONResponse({"error": self.refresh_error}, status_code=400)
        if token not in self.refresh_tokens:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        answer = self.issue()
        if self.rotates:
            self.refresh_tokens.discard(token)
        else:
            self.refresh_tokens.discard(answer.pop("refresh_token"))
        return JSONResponse(answer)

    def _parse_form(self, request: Request, body: str) -> dict[str, str]:
        kind = {"form": "application/x-www-form-urlencoded", "json": "application/json"}
        assert request.headers["content-type"] == kind[self.tokens_as]
        assert request.headers["accept"] == "application/json"
        return dict(parse_qsl(body)) if self.tokens_as == "form" else json.loads(body)

    def _is_our_client(self, request: Request, form: Mapping[str, str]) -> bool:
        if self.client_in == "body":
            return (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
        pair = b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        return [unquote(part) for part in pair.split(":")] == [CLIENT_ID, CLIENT_SECRET]

    async def _revoke(self, request: Request) -> Response:
        if self.failure_status:
            return Response(status_code=self.failure_status)
        body = (await request.body()).decode()
        form = json.loads(body) if body.startswith("{") else dict(parse_qsl(body))
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.revoked_tokens.append(form.get("token") or form.get("access_token") or bearer)
        return Response(status_code=200 if request.method == "POST" else 204)

    async def _serve(self, request: Request) -> Response:
        body = await request.body()
        recorded_request = ProviderRequest(
            method=request.method,
            path=request.url.path,
            query=dict(request.query_params),
            body=json.loads(body) if body else None,
            headers=request.headers,
        )
        self.requests.append(recorded_request)
        if request.headers.get("authorization", "")[7:] not in self.access_tokens:
            return JSONResponse({"error": {"code": 401}}, status_code=401)
        answers = self.answers.get(f"{recorded_request.method} {recorded_request.path}")
        if answers is None:
            return JSONResponse({"error": {"code": 404}}, status_code=404)
        status, answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return Response(status_code=204) if status == 204 else JSONResponse(answer, status)


def _is_same_client(authorization: Mapping[str, str], form: Mapping[str, str]) -> bool:
    """Check the code verifier against the challenge (RFC 7636, 4.6)."""
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    challenge = urlsafe_b64encode(digest).decode().rstrip("=")
    return (
        authorization["code_challenge"] == challenge
        and authorization["redirect_uri"] == form["redirect_uri"]
    )
