"""Cancellation on disconnect: work that only its caller needs ends when the caller disconnects.

Also called: request cancellation.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import Response

from shared.domain.errors import KeepsakeError

CLIENT_CLOSED_REQUEST = 499


async def cancel_on_disconnect(request: Request, work: Callable[[], Awaitable[Any]]) -> Any:
    """Return the result of `work`; cancel it when the caller, whose body was read, disconnects."""
    result: Any = Response(status_code=CLIENT_CLOSED_REQUEST)
    failure: KeepsakeError | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_after_disconnect, request, tasks.cancel_scope)
        try:
            result = await work()
        except KeepsakeError as error:
            failure = error  # a task group would wrap it
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return result


async def _cancel_after_disconnect(request: Request, scope: anyio.CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
