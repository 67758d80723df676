"""Tasks on Google Cloud Tasks.

Also called: queue, task queue, job queue, background jobs.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any
from zlib import crc32

from shared import telemetry
from shared.adapters.cloud.grpc_cancellation import keep_cancellation
from shared.domain.errors import Unavailable

TIMEOUT_S = 10.0


class GoogleTasks:
    """Creates tasks in queues: `projects/<project>/locations/<location>/queues/<queue>`.

    A queue dispatches 500 tasks a second; a task's name decides in which one it is, so that the same
    name is still taken once. For the hour after their number changes, a name may be taken twice.

    A task calls `url(target)` with a token of the target's service account in `accounts`, whose
    audience is the target's name unless `audiences` names another. `address` is a local server,
    reached without TLS. A target without an account is a bug: KeyError.
    """

    def __init__(
        self,
        *,
        queues: Sequence[str],
        url: Callable[[str], str],
        accounts: Mapping[str, str],
        audiences: Mapping[str, str] | None = None,
        address: str | None = None,
    ) -> None:
        self._queues = queues
        self._url = url
        self._accounts = accounts
        self._audiences = audiences or {}
        self._address = address

    async def create(
        self, target: str, name: str, body: Mapping[str, Any], *, at: datetime | None = None
    ) -> None:
        from google.api_core.exceptions import AlreadyExists, GoogleAPIError
        from google.auth.exceptions import GoogleAuthError

        task_id = _build_task_id(target, name)
        queue = self._choose_queue(task_id)
        task = {
            "name": f"{queue}/tasks/{task_id}",
            "http_request": self._build_http_request(target, body),
            "schedule_time": at,
        }
        try:
            async with keep_cancellation():
                await self._client.create_task(parent=queue, task=task, timeout=TIMEOUT_S)
        except AlreadyExists:
            return
        except (GoogleAPIError, GoogleAuthError) as error:
            raise Unavailable("Cloud Tasks does not take tasks") from error

    def _choose_queue(self, task_id: str) -> str:
        return self._queues[crc32(task_id.encode()) % len(self._queues)]

    def _build_http_request(self, target: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "url": self._url(target),
            "http_method": "POST",
            "headers": {"Content-Type": "application/json", **telemetry.get_trace_headers()},
            "body": json.dumps(dict(body)).encode(),
            "oidc_token": {
                "service_account_email": self._accounts[target],
                "audience": self._audiences.get(target, target),
            },
        }

    @cached_property
    def _client(self) -> Any:
        from google.cloud.tasks_v2 import CloudTasksAsyncClient

        if self._address is None:
            return CloudTasksAsyncClient()
        from grpc.aio import insecure_channel

        transport: Any = CloudTasksAsyncClient.get_transport_class("grpc_asyncio")
        return CloudTasksAsyncClient(transport=transport(channel=insecure_channel(self._address)))


def _build_task_id(target: str, name: str) -> str:
    """Prefix the id with a hash: Cloud Tasks is slow where many ids begin alike."""
    return f"{sha256(f'{target}/{name}'.encode()).hexdigest()[:32]}-{target}"
