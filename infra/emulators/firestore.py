"""The Firestore emulator: enforces rules, fires triggers, knows no indexes."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from infra.emulators.process import HOST, free_port, java, running, sdk_file

WARM_UP_TIMEOUT_S = 60.0
MAIN = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"


@contextmanager
def firestore(log: Path, *, rules: Path, functions: str | None = None) -> Iterator[str]:
    """Run it with `rules` and yield `host:port`; triggers post to `functions`, a `host:port`.

    Raises CannotRunError.
    """
    port = free_port()
    command = [
        java(),
        "-cp",
        str(sdk_file("cloud-firestore-emulator/cloud-firestore-emulator.jar")),
    ]
    command += [MAIN, "start", f"--host={HOST}", f"--port={port}", f"--rules={rules}"]
    if functions is not None:
        command.append(f"--functions_emulator={functions}")
    with running(command, port=port, log=log) as address:
        _warm_up(address)
        yield address


def _warm_up(address: str) -> None:
    """Let it load its classes now: the first call may take longer than a client waits.

    There is no such document; and while it still starts, it may hang up.
    """
    path = "v1/projects/warm-up/databases/(default)/documents/warm/up"
    owner = {"Authorization": "Bearer owner"}
    request = urllib.request.Request(f"http://{address}/{path}", headers=owner)
    with suppress(urllib.error.URLError, ConnectionError):
        urllib.request.urlopen(request, timeout=WARM_UP_TIMEOUT_S).close()  # noqa: S310
