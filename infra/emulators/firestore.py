"""Firestore emulator: enforces rules, fires triggers, knows no indexes."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from infra.emulators.process import (
    HOST,
    SHORT_LIVED,
    find_free_port,
    find_java,
    find_sdk_file,
    run_server,
)

WARM_UP_TIMEOUT_S = 60.0
EXPORT_TIMEOUT_S = 1_200.0
"""Until an export of tens of thousands of documents is written, or read."""
MAIN_CLASS = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"


@contextmanager
def run_firestore(
    log: Path, *, rules: Path, functions: str | None = None, export: Path | None = None
) -> Iterator[str]:
    """Run it with `rules` and yield `host:port`; triggers post to `functions`, a `host:port`.

    It begins with what `export` holds. Raises CannotRunError.
    """
    port = find_free_port()
    command = [
        find_java(),
        *SHORT_LIVED,
        "-cp",
        str(find_sdk_file("cloud-firestore-emulator/cloud-firestore-emulator.jar")),
    ]
    command += [MAIN_CLASS, "start", f"--host={HOST}", f"--port={port}", f"--rules={rules}"]
    if functions is not None:
        command.append(f"--functions_emulator={functions}")
    if export is not None:
        command.append(f"--seed_from_export={export}")
    with run_server(command, port=port, log=log) as address:
        _warm_up(address, WARM_UP_TIMEOUT_S if export is None else EXPORT_TIMEOUT_S)
        yield address


def export_documents(address: str, *, project: str, folder: Path) -> Path:
    """Write all documents of a project as Firestore's managed export does; return its first file."""
    name = "documents"
    body = {
        "database": f"projects/{project}/databases/(default)",
        "export_directory": str(folder),
        "export_name": name,
    }
    request = urllib.request.Request(
        f"http://{address}/emulator/v1/projects/{project}:export",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=EXPORT_TIMEOUT_S).close()  # noqa: S310
    return folder / name / f"{name}.overall_export_metadata"


def _warm_up(address: str, timeout_s: float) -> None:
    """Make it load its classes, and an export, now: the first call may take longer than a client waits.

    The document does not exist; a starting emulator may drop the connection.
    """
    path = "v1/projects/warm-up/databases/(default)/documents/warm/up"
    owner = {"Authorization": "Bearer owner"}
    request = urllib.request.Request(f"http://{address}/{path}", headers=owner)
    with suppress(urllib.error.URLError, ConnectionError):
        urllib.request.urlopen(request, timeout=timeout_s).close()  # noqa: S310
