"""Answer: its events as they are written, each once, across lost connections."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
from httpx_sse import EventSource, ServerSentEvent

from keepsake_client.problems import check

Event = dict[str, Any]
"""An event of the UI message stream; `type` tells which, such as `text-delta`, whose `delta` is text."""

LAST_TYPES = ("finish", "abort", "error")
LOST = "The server no longer has the events of this answer"
PAUSES_S = (0.25, 0.5, 1.0, 2.0, 4.0)


class AnswerLost(Exception):
    """The server no longer has the events of this answer; its message may be in the chat."""


class Answer:
    """The answer to one question; iterating asks it. `run` is its id as soon as the server says it."""

    def __init__(
        self,
        http: httpx.Client,
        text: str,
        *,
        chat: str | None,
        key: str,
        sleep: Callable[[float], None],
    ) -> None:
        self.run: str | None = None
        self._sleep = sleep
        self._http = http
        self._text = text
        self._chat = {"chat_session_id": chat} if chat else {}
        self._key = key
        self._seen = ""

    def __iter__(self) -> Iterator[Event]:
        """Yield events to the last one.

        Raises RequestFailed when the question is refused, AnswerLost, and httpx.TransportError when
        the connection stays lost.
        """
        failures = 0
        while True:
            seen = self._seen
            try:
                for event in self._read():
                    yield event
                    if event["type"] in LAST_TYPES:
                        return
            except httpx.TransportError:
                if failures == len(PAUSES_S):
                    raise
            failures = 0 if self._seen != seen else failures
            if failures == len(PAUSES_S):
                raise AnswerLost(LOST)
            self._sleep(PAUSES_S[failures])
            failures += 1

    def read_text(self) -> str:
        """Read to the end; return the text, without what was taken back from it."""
        text = ""
        for event in self:
            if event["type"] == "text-delta":
                text += event["delta"]
            if event["type"] == "data-answer-withdrawn":
                text = text[: -event["data"]["chars"]]
        return text

    def stop(self) -> None:
        """End the answer where it is; what was written stays. Only after the first event."""
        check(self._http.post(f"/v2/messages/{self.run}/stop"))

    def _read(self) -> Iterator[Event]:
        """Yield the events of one connection that were not seen before."""
        with self._open() as response:
            if self.run and response.status_code in (204, 404):
                raise AnswerLost(LOST)
            check(response)
            self.run = response.headers.get("X-Run-Id", self.run)
            yield from self._group(EventSource(response).iter_sse())

    def _open(self) -> Any:
        if self.run:
            headers = {"Last-Event-ID": self._seen} if self._seen else {}
            return self._http.stream("GET", f"/v2/messages/{self.run}/stream", headers=headers)
        return self._http.stream(
            "POST",
            "/v2/messages",
            params={"protocol": "ui-message-stream", **self._chat},
            json={"text": self._text},
            headers={"Idempotency-Key": self._key},
        )

    def _group(self, received: Iterator[ServerSentEvent]) -> Iterator[Event]:
        """Hold events back until one with a number: a cut before it sends all of them again."""
        group: list[Event] = []
        for message in received:
            if message.data and message.data != "[DONE]":
                group.append(message.json())
            if message.id and message.id != self._seen:
                self._seen = message.id
                yield from group
                group = []
