"""Rate limit headers: the rest of a limit, and the problem for a caller who used it up.

Also called: Too Many Requests.
"""

from collections.abc import Mapping

from starlette.responses import JSONResponse

from shared.domain.errors import TooMany
from shared.edge.declare.problems import QUOTA_EXCEEDED, build_problem
from shared.resilience.rate_limit_status import RateLimitStatus

HOUR_S = 3600


def build_rate_limit_headers(status: RateLimitStatus) -> Mapping[str, str]:
    """Build the headers that released apps read, and the RateLimit draft's structured fields."""
    return {
        "X-RateLimit-Limit": str(status.limit),
        "X-RateLimit-Remaining": str(status.remaining),
        "X-RateLimit-Reset": str(status.reset_s),
        "RateLimit-Policy": f'"app";q={status.limit};w={HOUR_S}',
        "RateLimit": f'"app";r={status.remaining};t={status.reset_s}',
    }


def too_many_requests(error: TooMany, *, limit: int) -> JSONResponse:
    """Build the 429 problem, with the headers of a limit of which nothing is left."""
    retry_after_s = error.retry_after_s
    limit_headers = build_rate_limit_headers(
        RateLimitStatus(limit=limit, remaining=0, reset_s=retry_after_s)
    )
    extensions = {"type": QUOTA_EXCEEDED, "violated-policies": ["app"]}
    return build_problem(
        429, str(error), headers={**limit_headers, "Retry-After": str(retry_after_s)}, **extensions
    )
