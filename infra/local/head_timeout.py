"""Head timeout: a connection that does not send a whole request head in time is closed (slow loris).

uvicorn bounds how large a head is and how long a connection idles after an answer, not how long a head takes.
"""

from asyncio import TimerHandle, Transport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIMEOUT_S = 10.0


class TimelyProtocol(H11Protocol):
    """HTTP/1.1 whose heads arrive in time; bodies and answers may take longer."""

    head_timeout_s = HEAD_TIMEOUT_S
    _timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        """Time a head until it has ended; none is expected while a request is answered."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_timeout_s, self.transport.close)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
