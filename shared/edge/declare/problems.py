"""Problems: errors as HTTP answers in problem+json (RFC 9457).

`detail` is the exact text that released apps expect.

Also called: problem details, error response, error codes, HTTP status codes.
"""

from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from typing import Any

from starlette.responses import JSONResponse, Response

from shared.domain.errors import (
    AccountErased,
    ChatLocked,
    Conflict,
    Gone,
    Invalid,
    KeepsakeError,
    LocalAddress,
    ManifestFailed,
    ModelFailed,
    NoManifest,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    PreconditionFailed,
    QuotaExceeded,
    SetupIncomplete,
    TooLarge,
    ToolFailed,
    ToolRefused,
    TooMany,
    Unavailable,
)

STATUS_BY_ERROR: Mapping[type[KeepsakeError], int] = {
    Invalid: 422,
    NotAuthenticated: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    Gone: 410,
    AccountErased: 410,  # above what it is one of
    TooLarge: 413,
    ChatLocked: 423,
    TooMany: 429,
    SetupIncomplete: 400,
    NoManifest: 400,
    ManifestFailed: 502,
    ToolRefused: 422,
    ToolFailed: 424,
    Unavailable: 503,
    PreconditionFailed: 503,
    ModelFailed: 502,
}
DAY_S = 86_400
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
_PUBLIC_DETAILS = {
    Unavailable: "A part of the service does not answer. Please try again.",
    PreconditionFailed: "Something else changed this at the same time. Please try again.",
    ModelFailed: "The language model gave no usable answer.",
}


class RequestRejected(Exception):
    """A request that no handler sees; `response` says why."""

    def __init__(self, response: Response) -> None:
        self.response = response


def build_problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **extensions: Any
) -> JSONResponse:
    """Build a problem, which no cache keeps: what is not there may come. `extensions` are more fields beside `detail`."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **extensions,
    }
    return JSONResponse(
        body,
        status_code=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
        media_type="application/problem+json",
    )


def to_problem(error: KeepsakeError) -> JSONResponse:
    """Map an error of ours by its class; one that is not in STATUS_BY_ERROR is a bug: 500."""
    error_type = next((k for k in STATUS_BY_ERROR if isinstance(error, k)), None)
    if error_type is None:
        return build_problem(500, "Internal Server Error")
    status = STATUS_BY_ERROR[error_type]
    detail = _PUBLIC_DETAILS.get(error_type, str(error))
    headers, extensions = _build_headers(error, status), _build_extensions(error)
    return build_problem(status, detail, headers=headers, **extensions)


def _build_headers(error: KeepsakeError, status: int) -> Mapping[str, str]:
    headers = {}
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, QuotaExceeded):
        headers |= _build_quota_headers(error)
    if status == 503:
        headers["Retry-After"] = str(ceil(getattr(error, "retry_after_s", None) or 1))
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def _build_extensions(error: KeepsakeError) -> Mapping[str, Any]:
    """Build what programs read beside the sentence."""
    match error:
        case QuotaExceeded():
            return {"type": QUOTA_EXCEEDED, "violated-policies": [error.policy]}
        case LocalAddress():
            return {"code": "local_address", "origins": list(error.origins)}
        case ChatLocked():
            return {"code": "chat_locked", "locked_until": error.locked_until.isoformat()}
        case ToolFailed() if error.connect_url:
            return {"connect_url": error.connect_url}
    return {}


def _build_quota_headers(error: QuotaExceeded) -> Mapping[str, str]:
    """Build the RateLimit draft's structured fields for a quota of which nothing is left."""
    window = "" if error.resets_at is None else f";w={DAY_S}"
    return {
        "RateLimit-Policy": f'"{error.policy}";q={error.limit}{window}',
        "RateLimit": f'"{error.policy}";r=0;t={error.retry_after_s}',
    }
