from collections.abc import AsyncIterator

import pytest
from httpx import AsyncClient

from tests.fakes import ScriptedTranscriber
from tests.fixtures.library import build_client
from tests.fixtures.processing import ALICE, ProcessingFixture


@pytest.fixture
async def phone(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    """The phone of Alice, where a transcriber is set up."""
    async with build_client(world, ALICE, transcriber=ScriptedTranscriber()) as client:
        yield client
