"""Days that programs name are those of the owner's clock (I2)."""

from datetime import UTC, datetime

import pytest

from functions.library.programs.listings import list_conversations
from functions.library.programs.program_schemas import ConversationsFilter
from shared.adapters.embedded.offline.offline_model import OfflineModel
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE, build_processing_fixture, build_test_conversation

EVENING = datetime(2026, 11, 28, 4, tzinfo=UTC)
"""Friday the 27th at 20:00 in Los Angeles."""


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"start_date": "2026-11-27", "end_date": "2026-11-27"}, 1),
        ({"start_date": "2026-11-28", "end_date": "2026-11-28"}, 0),
        ({"start_date": "2026-11-27T19:59", "end_date": "2026-11-27T20:01"}, 1),
        ({"start_date": "2026-11-28T03:59:00Z", "end_date": "2026-11-28T04:01:00Z"}, 1),
        ({"start_date": "", "end_date": None}, 1),
    ],
)
async def test_a_day_without_a_zone_is_the_owners_i2(database, wanted, count):
    world = build_processing_fixture(database, OfflineModel())
    await world.deps.stores.profiles.change(ALICE, time_zone="America/Los_Angeles")
    times = {"created_at": EVENING, "started_at": EVENING, "finished_at": EVENING}
    await world.deps.stores.conversations.add(ALICE, build_test_conversation(**times))
    await world.deliver_all()

    query = ConversationsFilter.model_validate(wanted)
    found = await list_conversations(build_library_deps(world), ALICE, query)

    assert len(found) == count
