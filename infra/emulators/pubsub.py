"""The Pub/Sub emulator: topics, push subscriptions, redelivery."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.process import HOST, free_port, java, running, sdk_file


@contextmanager
def pubsub(log: Path) -> Iterator[str]:
    """Run it and yield `host:port`. Raises CannotRunError."""
    port = free_port()
    jar = sdk_file("pubsub-emulator/lib/cloud-pubsub-emulator-*-all.jar")
    command = [java(), "-jar", str(jar), f"--host={HOST}", f"--port={port}"]
    with running(command, port=port, log=log) as address:
        yield address
