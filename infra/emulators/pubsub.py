"""Pub/Sub emulator: topics, push subscriptions, redelivery."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.process import (
    HOST,
    SHORT_LIVED,
    find_free_port,
    find_java,
    find_sdk_file,
    run_server,
)


@contextmanager
def run_pubsub(log: Path) -> Iterator[str]:
    """Run it and yield `host:port`. Raises CannotRunError."""
    port = find_free_port()
    jar = find_sdk_file("pubsub-emulator/lib/cloud-pubsub-emulator-*-all.jar")
    command = [find_java(), *SHORT_LIVED, "-jar", str(jar), f"--host={HOST}", f"--port={port}"]
    with run_server(command, port=port, log=log) as address:
        yield address
