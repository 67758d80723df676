from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_keys import build_field_key, build_sort_key

NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.integers(-(2**53) - 8, -(2**53) + 8),
    st.integers(2**62 - 3, 2**62 + 3).map(float),
)
TIMES = st.datetimes(
    min_value=datetime(1, 1, 2), timezones=st.just(UTC)  # noqa: DTZ001 - hypothesis adds the zone
)  # fmt: skip


@given(NUMBERS, NUMBERS)
@example(2**53, 2**53 + 1)
@example(0.0, -0.0)
@example(2**63 - 1, float(2**63))
@example(float("-inf"), -(2**63))
def test_integers_and_floats_sort_together_by_value(a: float, b: float):
    assert (build_sort_key(a) < build_sort_key(b)) is (a < b)
    assert (build_sort_key(a) == build_sort_key(b)) is (a == b)


@given(st.text(), st.text())
@example("a", "a\x00")
@example("a\x00", "a\x01")
@example("\uffff", "𐀀")
def test_texts_sort_by_their_bytes(a: str, b: str):
    sort_keys = build_sort_key(a).encode(), build_sort_key(b).encode()

    assert (sort_keys[0] < sort_keys[1]) is (a.encode() < b.encode())
    assert b"\x00" not in sort_keys[0]


@given(TIMES, TIMES)
def test_times_sort_by_moment(a: datetime, b: datetime):
    assert (build_sort_key(a) < build_sort_key(b)) is (a < b)


@given(st.lists(st.text(min_size=1), min_size=1), st.lists(st.text(min_size=1), min_size=1))
@example(["a.b"], ["a", "b"])
@example(["a[]"], ["a", "[]"])
def test_different_field_paths_have_different_names(a: list[str], b: list[str]):
    assert (build_field_key(a) == build_field_key(b)) is (a == b)
    assert not set(build_field_key(a)) & set('"[]')
