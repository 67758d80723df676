"""Events on Pub/Sub.

Also called: message broker, event bus.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import anyio

from shared import telemetry
from shared.domain.errors import Unavailable

TIMEOUT_S = 10.0


class PubsubEvents:
    """Publishes to the topics of one project; PUBSUB_EMULATOR_HOST is obeyed by the client."""

    def __init__(self, *, project: str) -> None:
        self._project = project

    async def publish(self, topic: str, event: Mapping[str, Any]) -> None:
        await anyio.to_thread.run_sync(self._publish, topic, json.dumps(dict(event)).encode())

    def _publish(self, topic: str, data: bytes) -> None:
        """Publish, and wait until Pub/Sub has stored the message."""
        from google.api_core.exceptions import GoogleAPIError

        path = self._client.topic_path(self._project, topic)
        try:
            self._client.publish(path, data, **telemetry.get_trace_headers()).result(
                timeout=TIMEOUT_S
            )
        except (GoogleAPIError, TimeoutError) as error:
            raise Unavailable("Pub/Sub does not take events") from error

    @cached_property
    def _client(self) -> Any:
        from google.cloud.pubsub_v1 import PublisherClient

        return PublisherClient()
