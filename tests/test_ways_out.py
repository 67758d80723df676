"""Network access in our code: which modules may open connections, and why (T10)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NETWORK_MODULES = {
    "aiohttp", "asyncio.streams", "ftplib", "http.client", "httpcore", "httpx", "httpx2", "requests",
    "smtplib", "socket", "urllib.request", "urllib3", "websockets",
}  # fmt: skip

NETWORK_ALLOW_LIST = {
    "functions/tool_proxy/mcp_servers/client.py": "gives the SDK a client over the Egress port alone",
    "functions/tool_proxy/mcp_servers/discovery.py": "builds requests that http.py sends",
    "functions/tool_proxy/mcp_servers/egress_transport.py": "hands the SDK's requests to the Egress port",
    "shared/adapters/cloud/firestore_documents.py": "looks whether the emulator of the settings is up",
    "shared/adapters/guarded_egress.py": "the one way to addresses that others chose",
    "shared/adapters/http_link_checker.py": "calls our own tool_proxy, at an address of the settings",
    "shared/adapters/http_toolbox.py": "calls our own tool_proxy, at an address of the settings",
    "shared/adapters/trust_store.py": "the certificates of the clients here; it opens nothing",
    "shared/adapters/cloud/gcs_blobs.py": "keeps uploaded files in our bucket",
    "shared/adapters/cloud/live_socket.py": "sockets of providers that hear live, at addresses of the settings",
    "shared/adapters/cloud/oidc_service_identity.py": "asks Google for tokens and keys",
    "shared/adapters/cloud/openai_http.py": "models and embeddings, whose address is a setting",
    "shared/adapters/cloud/openai_realtime.py": "the timeouts of the SDK, whose address is a setting",
    "shared/adapters/cloud/openai_transcriber.py": "the timeouts of the SDK, whose address is a setting",
    "shared/adapters/cloud/openai_server.py": "what the server of a model tells of it, at the same address",
    "shared/adapters/cloud/openai_model.py": "the errors of its connection alone",
}


def list_imports(tree: ast.AST) -> set[str]:
    """List every module that is imported anywhere in a file, in functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def can_use_network(path: Path) -> bool:
    names = list_imports(ast.parse(path.read_text()))
    return any(
        name == module or name.startswith(f"{module}.")
        for name in names
        for module in NETWORK_MODULES
    )


def test_only_files_on_the_allow_list_use_the_network_t10():
    sources = [*ROOT.glob("functions/**/*.py"), *ROOT.glob("shared/**/*.py")]

    files = {str(path.relative_to(ROOT)) for path in sources if can_use_network(path)}

    assert files == set(NETWORK_ALLOW_LIST)


@pytest.mark.parametrize(
    "line", ["import httpx", "from httpx2 import Timeout", "from urllib import request"]
)
def test_every_form_of_import_is_detected(line, tmp_path):
    source = tmp_path / "some.py"
    source.write_text(f"def call():\n    {line}\n")

    assert can_use_network(source)
