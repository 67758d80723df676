"""T10: who may speak to the network at all, and why; everything else goes through the Egress port."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NETWORK = {
    "aiohttp", "asyncio.streams", "ftplib", "http.client", "httpcore", "httpx", "httpx2", "requests",
    "smtplib", "socket", "urllib.request", "urllib3", "websockets",
}  # fmt: skip

ALLOWED = {
    "functions/tool_proxy/mcp_servers/client.py": "gives the SDK a client over the Egress port alone",
    "functions/tool_proxy/mcp_servers/discovery.py": "builds requests that http.py sends",
    "functions/tool_proxy/mcp_servers/http.py": "hands the SDK's requests to the Egress port",
    "shared/adapters/firestore_documents.py": "looks whether the emulator of the settings is up",
    "shared/adapters/guarded_egress.py": "the one way to addresses that others chose",
    "shared/adapters/http_toolbox.py": "calls our own tool_proxy, at an address of the settings",
    "shared/adapters/oidc_service_identity.py": "asks Google for tokens and keys",
    "shared/adapters/openai_embedder.py": "the timeouts of the SDK, whose address is a setting",
    "shared/adapters/openai_model.py": "the timeouts of the SDK, whose address is a setting",
}


def imported(tree: ast.AST) -> set[str]:
    """Name every module that is imported anywhere in a file, in functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def speaks_to_the_network(path: Path) -> bool:
    names = imported(ast.parse(path.read_text()))
    return any(name == one or name.startswith(f"{one}.") for name in names for one in NETWORK)


def test_t10_nothing_but_these_files_can_call_an_address():
    sources = [*ROOT.glob("functions/**/*.py"), *ROOT.glob("shared/**/*.py")]

    found = {str(path.relative_to(ROOT)) for path in sources if speaks_to_the_network(path)}

    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "line", ["import httpx", "from httpx2 import Timeout", "from urllib import request"]
)
def test_every_way_to_import_one_is_seen(line, tmp_path):
    source = tmp_path / "some.py"
    source.write_text(f"def call():\n    {line}\n")

    assert speaks_to_the_network(source)
