"""A world in a database of its own, and Alice in it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from httpx import AsyncClient

from shared.adapters.sqlite_database import SqliteDatabase
from tests.doubles import ScriptedModel
from tests.functions.process_conversation.client import client_of
from tests.functions.process_conversation.world import ALICE, World, answers, script, world_on


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()


@pytest.fixture
def world(database) -> World:
    return world_on(database, ScriptedModel(answers=script(answers())))


@pytest.fixture
async def alice(world: World) -> AsyncIterator[AsyncClient]:
    async with client_of(world, ALICE) as client:
        yield client
