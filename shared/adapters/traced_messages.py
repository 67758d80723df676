"""Events and Tasks with spans: sending a message is one, and what the message causes is part of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared.spans import describe_message, open_span

if TYPE_CHECKING:
    from shared.ports import Events, Tasks


class TracedEvents:
    def __init__(self, events: "Events") -> None:
        self._events = events

    async def publish(self, topic: str, event: Mapping[str, Any]) -> None:
        attributes = describe_message("send", topic)
        with open_span(f"send {topic}", kind="producer", attributes=attributes):
            await self._events.publish(topic, event)


class TracedTasks:
    def __init__(self, tasks: "Tasks") -> None:
        self._tasks = tasks

    async def create(
        self, target: str, name: str, body: Mapping[str, Any], *, at: datetime | None = None
    ) -> None:
        attributes = describe_message("send", target)
        with open_span(f"send {target}", kind="producer", attributes=attributes):
            await self._tasks.create(target, name, body, at=at)
