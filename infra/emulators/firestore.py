"""The Firestore emulator: enforces rules, fires triggers, knows no indexes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.process import HOST, free_port, java, running, sdk_file

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
        yield address
