"""Servers of a soak: several processes on one data folder, all but the first killed again and again."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from infra.bench.processes import LOCAL_KEY, ServerProcess, run_module
from infra.emulators.process import find_free_port

MAX_SKEW_S = 5.0
MAX_STARTS = 5
EXPECTED_ERROR = '"message": "turn_failed"'
"""A connection to the model was reset in the middle of an answer."""


@dataclass(slots=True)
class Server:
    """A port at which one process after the other serves, each with a clock of its own."""

    environment: Mapping[str, str]
    random: Random
    port: int = field(default_factory=find_free_port)
    process: ServerProcess | None = None
    errors: list[str] = field(default_factory=list)
    _stack: ExitStack = field(default_factory=ExitStack)

    async def start(self, skew_s: float | None = None) -> ServerProcess:
        """Start a process, again where a busy machine lets it not listen in time. Raises RuntimeError."""
        skew = self.random.uniform(-MAX_SKEW_S, MAX_SKEW_S) if skew_s is None else skew_s
        for _ in range(MAX_STARTS - 1):
            with suppress(RuntimeError):
                return await self._start_once(skew)
        return await self._start_once(skew)

    async def _start_once(self, skew_s: float) -> ServerProcess:
        environment = {**self.environment, "PORT": str(self.port)}
        starting = run_module("infra.soak.server", str(skew_s), port=self.port, env=environment)
        self.process = await asyncio.to_thread(self._stack.enter_context, starting)
        return self.process

    async def kill(self) -> None:
        if self.process:
            self.process.kill()
            await self.stop()

    async def stop(self) -> None:
        """Stop the process, and keep the unexpected errors that it logged."""
        if self.process:
            self.errors += read_errors(self.process.log)
            self.process = None
        await asyncio.to_thread(self._stack.close)


def read_errors(log: Path) -> list[str]:
    errors = [line for line in log.read_text().splitlines() if '"severity": "ERROR"' in line]
    return [line for line in errors if EXPECTED_ERROR not in line]


@asynccontextmanager
async def run_servers(
    count: int, data: Path, random: Random, **variables: str
) -> AsyncIterator[list[Server]]:
    """Run servers on the files in `data`; the clock of the first is right."""
    environment = {"DATA_DIR": str(data), "LOCAL_KEY": LOCAL_KEY, **variables}
    servers = [Server(environment, random) for _ in range(count)]
    try:
        for server in servers:
            await server.start(0.0 if server is servers[0] else None)
        yield servers
    finally:
        for server in servers:
            await server.stop()
