"""T14: how an answer says what is left of the hour."""

from http_sfv.list import List
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.allowance import Allowance
from shared.edge.allowances import HOUR_S, headers


@given(remaining=st.integers(0, 10), reset_s=st.integers(1, HOUR_S))
def test_t14_the_headers_are_structured_fields_of_the_ratelimit_draft(remaining: int, reset_s: int):
    """RateLimit-Policy and RateLimit are lists of strings with integer parameters (RFC 9651)."""
    said = headers(Allowance(limit=10, remaining=remaining, reset_s=reset_s))

    assert parsed(said["RateLimit-Policy"]) == [("app", {"q": 10, "w": HOUR_S})]
    assert parsed(said["RateLimit"]) == [("app", {"r": remaining, "t": reset_s})]
    assert said["X-RateLimit-Remaining"] == str(remaining)
    assert said["X-RateLimit-Reset"] == str(reset_s)


def parsed(header: str) -> list[tuple[object, dict[str, object]]]:
    items = List()
    items.parse(header.encode())
    return [(item.value, dict(item.params)) for item in items]
