"""Reading speed of a model: what its last calls tell (E3)."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.models.model import Usage
from shared.models.reading_speed import ReadingSpeeds

SENT = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("calls", "speed"),
    [
        ([], None),
        ([(1_000, 0, 10.0)], 100.0),
        ([(6_000, 5_000, 10.0)], 100.0),
        ([(6_000, 5_900, 2.0)], None),
        ([(1_000, 0, 10.0), (1_000, 0, 40.0)], 100.0),
        ([(1_000, 0, 1.0), *[(1_000, 0, 10.0)] * 3], 100.0),
        ([(1_000, 0, 0.0)], None),
    ],
)
def test_the_fastest_of_the_last_calls_counts_without_what_was_read_before(
    calls: list[tuple[int, int, float]], speed: float | None
) -> None:
    speeds = ReadingSpeeds()
    for tokens, cached, seconds in calls:
        usage = Usage(input_tokens=tokens, cached_tokens=cached)
        speeds.note("small", usage, SENT, SENT + timedelta(seconds=seconds))

    assert speeds.get("small") == speed
    assert speeds.get("another") is None
