"""How much an app may notify one user, and how an answer says so."""

from collections.abc import Mapping

from shared.domain.value import value

PER_HOUR = 10
HOUR_S = 3600


@value
class Allowance:
    """What is left of the running hour, and the seconds until the next."""

    remaining: int
    reset_s: int


def headers(allowance: Allowance) -> Mapping[str, str]:
    """Say it twice: as apps know it, and as the RateLimit draft's structured fields."""
    return {
        "X-RateLimit-Limit": str(PER_HOUR),
        "X-RateLimit-Remaining": str(allowance.remaining),
        "X-RateLimit-Reset": str(allowance.reset_s),
        "RateLimit-Policy": f'"app";q={PER_HOUR};w={HOUR_S}',
        "RateLimit": f'"app";r={allowance.remaining};t={allowance.reset_s}',
    }
