"""A world in a database of its own, and Alice in it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing

import pytest
from httpx import AsyncClient

from tests.fakes import ScriptedModel, UnmaskedModels
from tests.fixtures.library import CONVERSATIONS, build_client
from tests.fixtures.merging import FIRST, SECOND, EchoModel
from tests.fixtures.processing import (
    ALICE,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
)
from tests.fixtures.storage import MemoryDatabase


@pytest.fixture
def database() -> Iterator[MemoryDatabase]:
    """In memory and on the event loop, where it costs no file and no thread."""
    with closing(MemoryDatabase()) as database:
        yield database


@pytest.fixture
def world(database) -> ProcessingFixture:
    return build_processing_fixture(database, ScriptedModel(answers=build_script(build_outputs())))


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with build_client(world, ALICE) as client:
        yield client


@pytest.fixture
async def two(world: ProcessingFixture, alice: AsyncClient) -> ProcessingFixture:
    """Store two conversations that the model answers; return the world."""
    object.__setattr__(world.deps, "model", UnmaskedModels(model=EchoModel()))
    for body in (FIRST, SECOND):
        assert (await alice.post(CONVERSATIONS, json=body)).status_code in (200, 201, 202)
    await world.deliver_all()
    return world
