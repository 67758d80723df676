"""Rate limit headers: the rest of the hour's limit (T14)."""

from http_sfv.list import List
from hypothesis import given
from hypothesis import strategies as st

from shared.edge.declare.rate_limit_headers import HOUR_S, build_rate_limit_headers
from shared.resilience.rate_limit_status import RateLimitStatus


@given(remaining=st.integers(0, 10), reset_s=st.integers(1, HOUR_S))
def test_the_headers_are_structured_fields_of_the_ratelimit_draft_t14(remaining: int, reset_s: int):
    """RateLimit-Policy and RateLimit are lists of strings with integer parameters (RFC 9651)."""
    limit_headers = build_rate_limit_headers(
        RateLimitStatus(limit=10, remaining=remaining, reset_s=reset_s)
    )

    assert parse_structured_field(limit_headers["RateLimit-Policy"]) == [
        ("app", {"q": 10, "w": HOUR_S})
    ]
    assert parse_structured_field(limit_headers["RateLimit"]) == [
        ("app", {"r": remaining, "t": reset_s})
    ]
    assert limit_headers["X-RateLimit-Remaining"] == str(remaining)
    assert limit_headers["X-RateLimit-Reset"] == str(reset_s)


def parse_structured_field(header: str) -> list[tuple[object, dict[str, object]]]:
    items = List()
    items.parse(header.encode())
    return [(item.value, dict(item.params)) for item in items]
