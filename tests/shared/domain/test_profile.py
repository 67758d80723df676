"""Profile: where a user is taken to be, and who is told."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.account.profile import Profile
from shared.domain.conversations.place import Geolocation

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PLACE = Geolocation(latitude=38.72, longitude=-9.14, time=NOON)


@pytest.mark.parametrize(
    ("start", "end", "is_there"),
    [
        (0, 5, True),
        (-300, 300, True),
        (30, 60, True),
        (31, 60, False),
        (-60, -30, True),
        (-60, -31, False),
    ],
)
def test_a_place_holds_for_half_an_hour(start, end, is_there):
    """Minutes of the conversation's start and end after the measurement."""
    profile = Profile(place=PLACE)

    found = profile.find_place(NOON + timedelta(minutes=start), NOON + timedelta(minutes=end))

    assert found == (PLACE if is_there else None)


@pytest.mark.parametrize("profile", [Profile(), Profile(place=Geolocation(latitude=1.0))])
def test_without_a_measured_place_there_is_none(profile):
    assert profile.find_place(NOON, NOON) is None


def test_apps_are_told_a_place_only_if_the_owner_allows_it():
    allowed = Profile(place=PLACE, is_place_shared=True)

    assert Profile(place=PLACE).find_shared_place(NOON) is None
    assert allowed.find_shared_place(NOON) == PLACE
    assert allowed.find_shared_place(NOON + timedelta(hours=1)) is None


@pytest.mark.parametrize("time", [None, NOON + timedelta(days=1)])
def test_a_measurement_is_never_later_than_now(time):
    assert Geolocation(time=time).with_time(NOON).time == NOON
    earlier = NOON - timedelta(minutes=1)
    assert Geolocation(time=earlier).with_time(NOON).time == earlier
