"""How an answer says how much of a limit is left."""

from collections.abc import Mapping

from starlette.responses import JSONResponse

from shared.domain.allowance import Allowance
from shared.domain.errors import TooMany
from shared.edge.problems import problem

HOUR_S = 3600
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"


def headers(allowance: Allowance) -> Mapping[str, str]:
    """Say it twice: as apps know it, and as the RateLimit draft's structured fields."""
    return {
        "X-RateLimit-Limit": str(allowance.limit),
        "X-RateLimit-Remaining": str(allowance.remaining),
        "X-RateLimit-Reset": str(allowance.reset_s),
        "RateLimit-Policy": f'"app";q={allowance.limit};w={HOUR_S}',
        "RateLimit": f'"app";r={allowance.remaining};t={allowance.reset_s}',
    }


def over_limit(refused: TooMany, *, limit: int) -> JSONResponse:
    """Answer who used up their hour."""
    seconds = refused.retry_after_s
    left = headers(Allowance(limit=limit, remaining=0, reset_s=seconds))
    more = {"type": QUOTA_EXCEEDED, "violated-policies": ["app"]}
    return problem(429, str(refused), headers={**left, "Retry-After": str(seconds)}, **more)
