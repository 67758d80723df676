"""Instances of a soak: processes of one function, behind a link that chooses one for each connection."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import anyio

from infra.emulators.process import find_free_port
from infra.local.routing import ROOT, EntryPoint
from infra.soak.servers import read_errors

MAX_SKEW_S = 300.0
"""The clocks of machines are put right by the store's answers, however wrong they are."""
START_TIMEOUT_S = 180.0
POLL_S = 0.1


@dataclass(slots=True, kw_only=True)
class Instance:
    """A port at which one process of a function after the other serves, each with a clock of its own."""

    function: EntryPoint
    environment: Mapping[str, str]
    log: Path
    random: Random
    port: int = field(default_factory=find_free_port)
    process: Process | None = None

    async def start(self) -> None:
        """Start a process. Raises TimeoutError when it does not listen."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._build_command(self.random.uniform(-MAX_SKEW_S, MAX_SKEW_S)),
                cwd=ROOT,
                env={**self.environment, "PORT": str(self.port)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        async with asyncio.timeout(START_TIMEOUT_S):
            await self._connect()

    def _build_command(self, skew_s: float) -> Sequence[str]:
        source = str(self.function.source.relative_to(ROOT))
        module = [sys.executable, "-m", "infra.soak.function", str(skew_s)]
        return [*module, "--asgi", "--target", self.function.name, "--source", source]

    async def _connect(self) -> None:
        """Return once the process listens."""
        while True:
            with suppress(OSError):
                return await (await anyio.connect_tcp("127.0.0.1", self.port)).aclose()
            await asyncio.sleep(POLL_S)

    async def kill(self) -> None:
        """Kill it with its workers: the framework serves in a process of its own."""
        if self.process and self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()

    def read_errors(self) -> Sequence[str]:
        return read_errors(self.log)
