"""A world in a database of its own, and Alice in it."""

from collections.abc import AsyncIterator

import pytest
from httpx import AsyncClient

from tests.fakes import ScriptedModel
from tests.fixtures.library import build_client
from tests.fixtures.processing import (
    ALICE,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
)


@pytest.fixture
def world(database) -> ProcessingFixture:
    return build_processing_fixture(database, ScriptedModel(answers=build_script(build_outputs())))


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with build_client(world, ALICE) as client:
        yield client
