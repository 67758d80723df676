"""An MCP server with notes, and the tool proxy that may reach the server at `url`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.mcp_servers import McpServersFixture, open_mcp_servers_fixture
from tests.servers.mcp_server import NotesMcp


@pytest.fixture
def notes() -> NotesMcp:
    return NotesMcp()


@pytest.fixture
def world(url: str, tmp_path: Path) -> Iterator[McpServersFixture]:
    with open_mcp_servers_fixture(tmp_path, [url.removesuffix("/mcp")]) as world:
        yield world
