"""What a fresh process must not load: a function pays for what it uses, and for nothing else."""

import subprocess
import sys

import pytest

from infra.local.routing import ROOT

LOAD = """
import sys
from functions_framework.aio import create_asgi_app
create_asgi_app({entry!r}, "functions/{folder}/main.py", "http")
print(*sorted(sys.modules))
"""
CLOUD = {
    "KEEPSAKE_WORLD": "cloud",
    "OPENAI_API_KEY": "x",
    "PINECONE_API_KEY": "x",
    "PINECONE_SPARSE_HOST": "index.invalid",
}
VENDORS = {
    "openai", "pinecone", "firebase_admin", "google.cloud.firestore", "google.cloud.pubsub_v1",
    "google.cloud.tasks_v2", "google.events.cloud.firestore",
}  # fmt: skip
LATE = {"oauthlib", "httpx", "jsonschema", "mcp", "mcp_types", "standardwebhooks", "numpy"}
OTHERS = {"functions.chat", "functions.process_conversation", "functions.tool_proxy", "functions.notifications"}  # fmt: skip
MANAGED = {
    "functions.tool_proxy.apps.endpoints", "functions.tool_proxy.accounts.endpoints",
    "functions.tool_proxy.mcp_servers.endpoints", "shared.extraction",
}  # fmt: skip
"""What owners and developers manage, `apps` serves alone: a tool call waits for none of it."""


def loaded(folder: str, entry: str, **environment: str) -> set[str]:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD.format(folder=folder, entry=entry)],
        cwd=ROOT,
        env={"PYTHONPATH": ".", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ended.stdout.split())


@pytest.mark.parametrize(
    ("folder", "entry", "never"),
    [
        ("chat", "chat", VENDORS | LATE),
        ("process_conversation", "library", VENDORS | LATE),
        ("process_conversation", "mcp", VENDORS | LATE),
        ("process_conversation", "integrations", VENDORS | LATE),
        ("tool_proxy", "tool_proxy", VENDORS | LATE | {"shared.retrieval", *MANAGED}),
        ("tool_proxy/apps", "apps", VENDORS | LATE | {"shared.retrieval", "shared.extraction"}),
        ("tool_proxy/webhooks", "deliver_webhook", VENDORS | LATE | {"shared.retrieval", *MANAGED}),
        (
            "notifications",
            "notifications",
            VENDORS | LATE | {"shared.retrieval", "shared.extraction"},
        ),
    ],
)
def test_embedded_no_vendor_is_loaded(folder: str, entry: str, never: set[str]) -> None:
    others = OTHERS - {f"functions.{folder.partition('/')[0]}"}

    assert loaded(folder, entry) & (never | others) == set()


@pytest.mark.parametrize(
    ("folder", "entry", "first", "never"),
    [
        (
            "chat",
            "chat",
            {"openai", "google.cloud.firestore"},
            {"google.cloud.pubsub_v1", "firebase_admin", "sqlite3", *LATE},
        ),
        (
            "tool_proxy",
            "tool_proxy",
            {"google.cloud.firestore"},
            {"openai", "pinecone", "google.cloud.pubsub_v1", "sqlite3", *LATE},
        ),
        (
            "notifications",
            "notifications",
            {"google.cloud.firestore"},
            {"sqlite3", *LATE, *VENDORS} - {"google.cloud.firestore"},
        ),
    ],
)
def test_in_the_cloud_what_the_first_request_needs_is_there_and_no_more(
    folder: str, entry: str, first: set[str], never: set[str]
) -> None:
    modules = loaded(folder, entry, **CLOUD)

    assert first - modules == set()
    assert modules & never == set()
