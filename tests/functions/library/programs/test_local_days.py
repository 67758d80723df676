"""Days that programs name are those of the owner's clock (I2)."""

from datetime import UTC, datetime

import pytest

from functions.library.programs.integrations import library_reader
from functions.library.programs.integrations.integration_schemas import (
    ConversationsQuery,
    ExternalSearchIn,
    TasksQuery,
)
from functions.library.programs.listings import list_conversations
from functions.library.programs.program_schemas import ConversationsFilter
from functions.library.routes import LIBRARY_ROUTES
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.domain.ids import ActionItemId
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.callers import open_client
from tests.fixtures.library import build_client, build_library_deps
from tests.fixtures.processing import (
    ALICE,
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
)

EVENING = datetime(2026, 11, 28, 4, tzinfo=UTC)
"""Friday the 27th at 20:00 in Los Angeles."""
RANGES = pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"start_date": "2026-11-27", "end_date": "2026-11-27"}, 1),
        ({"start_date": "2026-11-28", "end_date": "2026-11-28"}, 0),
        ({"start_date": "2026-11-27T19:59", "end_date": "2026-11-27T20:01"}, 1),
        ({"start_date": "2026-11-28T03:59:00Z", "end_date": "2026-11-28T04:01:00Z"}, 1),
        ({"start_date": ""}, 1),
    ],
)


@pytest.fixture
async def world(database: SqliteDatabase) -> ProcessingFixture:
    """An evening of Alice's in Los Angeles: what was said, and one more thing to do."""
    world = build_processing_fixture(database, OfflineModel())
    stores = world.deps.stores
    await stores.profiles.change(ALICE, time_zone="America/Los_Angeles")
    times = {"created_at": EVENING, "started_at": EVENING, "finished_at": EVENING}
    await stores.conversations.add(ALICE, build_test_conversation(**times))
    await world.deliver_all()
    task = ActionItem(
        id=ActionItemId("milk"),
        description="Buy milk",
        created_at=EVENING,
        updated_at=EVENING,
        due_at=EVENING,
    )
    await stores.action_items.add(ALICE, task)
    return world


@RANGES
async def test_a_day_without_a_zone_is_the_owners_i2(
    world: ProcessingFixture, wanted: dict[str, str], count: int
) -> None:
    query = ConversationsFilter.model_validate(wanted)
    page = await list_conversations(build_library_deps(world), ALICE, query)

    assert len(page.items) == count


@RANGES
async def test_a_day_that_an_app_names_is_the_owners_i2(
    world: ProcessingFixture, wanted: dict[str, str], count: int
) -> None:
    deps = build_library_deps(world)
    due = {f"due_{name}": day for name, day in wanted.items()}
    conversations = ConversationsQuery.model_validate({"uid": ALICE, **wanted})
    search = ExternalSearchIn.model_validate({"query": "launch", **wanted})

    listed = await library_reader.list_conversations(deps, ALICE, conversations)
    found = await library_reader.search_conversations(deps, ALICE, search, 1)
    tasks = [
        await library_reader.list_tasks(
            deps, ALICE, TasksQuery.model_validate({"uid": ALICE, **dates})
        )
        for dates in (wanted, due)
    ]

    milk = [len([task for task in each if task.id == "milk"]) for each in tasks]
    assert [len(listed), len(found.conversations), *milk] == [count] * 4


@RANGES
async def test_a_day_for_which_a_script_lists_tasks_is_the_owners_i2(
    world: ProcessingFixture, wanted: dict[str, str], count: int
) -> None:
    async with build_client(world, ALICE) as owner:
        body = {"name": "Script", "scopes": ["action_items:read"]}
        key = (await owner.post("/v1/dev/keys", json=body)).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    async with open_client("library", LIBRARY_ROUTES, build_library_deps(world), headers) as script:
        listed = (await script.get("/v1/dev/user/action-items", params=wanted)).json()

    assert [task["id"] for task in listed].count("milk") == count
