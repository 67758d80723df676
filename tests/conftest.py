"""Fixtures that every test may use."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio: it is what the functions run on."""
    return "asyncio"
