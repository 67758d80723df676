"""The `ai` package in one process for all that read with it."""

from collections.abc import Iterator

import pytest

from tests.ai_sdk import SdkClient, run_client
from tests.conftest import run_or_skip


@pytest.fixture(scope="session")
def sdk() -> Iterator[SdkClient]:
    with run_or_skip(run_client) as client:
        yield client
