"""Amounts: sizes and times in units that people count in (U8)."""

import pytest

from shared.domain.amounts import describe_bytes, describe_seconds


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 bytes"),
        (1_000, "1,000 bytes"),
        (1_024, "1 KB"),
        (100_000, "97 KB"),
        (1_048_576, "1 MB"),
        (2_000_000, "1.9 MB"),
        (6_700_000, "6.3 MB"),
        (209_715_200, "200 MB"),
        (5_368_709_120, "5 GB"),
        (2_199_023_255_552, "2,048 GB"),
    ],
)
def test_a_size_is_rounded_down_to_what_is_accepted_u8(count: int, told: str) -> None:
    assert describe_bytes(count) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "1 s"), (61, "61 s"), (91, "2 min"), (1_200, "20 min"), (57_600, "16 h")],
)
def test_a_time_is_rounded_up_u8(seconds: float, told: str) -> None:
    assert describe_seconds(seconds) == told
