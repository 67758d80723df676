"""Work of a request that ends with its connection: whoever leaves does not want it any more."""

from asyncio import FIRST_COMPLETED, Task, create_task, gather, wait
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from shared.domain.errors import Conflict

T = TypeVar("T")


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return what the work returns, or raise what it raises; cancel it when the client leaves.

    The body of the request was read before. Raises Conflict after a client has left.
    """
    task, watch = create_task(work), create_task(_wait_until_left(request))
    try:
        await wait((task, watch), return_when=FIRST_COMPLETED)
        if not task.done():
            raise Conflict("The client has left.")
        return task.result()
    finally:
        await _stop(task, watch)


async def _wait_until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stop(*tasks: Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await gather(*tasks, return_exceptions=True)
