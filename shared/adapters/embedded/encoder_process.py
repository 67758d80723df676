"""Encoder in a process of its own, of the lowest priority: what waits to be embedded holds nobody up.

It reads a JSON list of texts a line, and writes a line for each: the vectors as 32-bit floats in base64.
The first line that it writes, of one text, shows that this machine can run the encoder: a processor
without its instructions kills the process, which no code could catch. Questions wait for that line, so
the priority falls behind it.
"""

import asyncio
import base64
import json
import os
import sys
from array import array
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice

from shared.domain.errors import ModelFailed

MAX_THREADS = 2
"""Beside questions; each thread embeds some three windows a second."""
MAX_LINE_BYTES = 8_000_000
_NICENESS = 19
_TRIAL = "Is anybody there?"


class EncoderProcess:
    """Started with its first text. One that dies before it embedded any is not started again.

    Later ones are: a text may be what killed it, or the machine was short of memory.
    """

    def __init__(self, command: Sequence[str] = (sys.executable, "-m", __name__)) -> None:
        self._command = command
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._is_proven = False

    async def prove(self) -> None:
        """Return once it has embedded a text on this machine. Raises ModelFailed where it cannot."""
        if not self._is_proven:
            await self.embed([])

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return the vector of each text. Raises ModelFailed.

        Who waits for it may be cancelled: the answer is read all the same, or the next would get it.
        """
        exchange = asyncio.ensure_future(self._embed(texts))
        exchange.add_done_callback(_read_failure)
        return await asyncio.shield(exchange)

    async def stop(self) -> None:
        """End it; what it was embedding still waits."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        async with self._lock:
            process, is_tried = self._process, self._is_proven
            if process is None or (process.returncode is not None and self._is_proven):
                self._process = process = await self._start()
                is_tried = False
            if not is_tried:
                await _exchange(process, [_TRIAL])
                self._is_proven = True
            return await _exchange(process, texts) if texts else []

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=MAX_LINE_BYTES,
            )
        except OSError as error:
            raise ModelFailed(f"the encoder's process did not start: {error.strerror}") from error


async def _exchange(
    process: asyncio.subprocess.Process, texts: Sequence[str]
) -> list[Sequence[float]]:
    assert process.stdin
    assert process.stdout
    with suppress(ConnectionError):  # it has ended: the answer below says so
        process.stdin.write(json.dumps(list(texts)).encode() + b"\n")
        await process.stdin.drain()
    line = await process.stdout.readline()
    if not line.endswith(b"\n"):
        raise ModelFailed(f"the encoder's process ended with code {await process.wait()}")
    return [array("f", base64.b64decode(vector)) for vector in json.loads(line)]


def _read_failure(exchange: "asyncio.Future[list[Sequence[float]]]") -> None:
    """Read the failure of an exchange for which nobody waits any more; asyncio would complain of it."""
    if not exchange.cancelled():
        exchange.exception()


def main() -> int:
    """Embed line after line until the input ends."""
    from shared.adapters.embedded.local_embedder import load_encoder

    encoder = load_encoder(threads=1)

    def embed(text: str) -> str:
        return base64.b64encode(encoder.passage([text])[0].tobytes()).decode()

    for line in islice(sys.stdin.buffer, 1):
        _write(map(embed, json.loads(line)))
    os.nice(_NICENESS)
    # A text to each thread: threads that share a text wait for one another, for long on a busy processor.
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_THREADS)) as threads:
        for line in sys.stdin.buffer:
            _write(threads.map(embed, json.loads(line)))
    return 0


def _write(vectors: Iterable[str]) -> None:
    sys.stdout.write(json.dumps(list(vectors)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
