"""An owner on a day in Lisbon, whose model gives the same recap of every day."""

from datetime import UTC, datetime

import pytest

from tests.fixtures.days import DaysFixture, RecapModel, build_days_fixture

MORNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def model() -> RecapModel:
    return RecapModel()


@pytest.fixture
async def days(database, model) -> DaysFixture:
    days = build_days_fixture(database, model, MORNING)
    await days.change_profile(time_zone="Europe/Lisbon")
    days.tasks.created.clear()
    return days
