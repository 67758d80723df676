"""Creation by scripts: done once for each Idempotency-Key, however often it is sent."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from functions.library.programs.key_access import KeyOwner
from shared.domain.store.operation import Operation
from shared.edge.declare.idempotency import run_idempotent
from shared.edge.declare.routes import Call
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps


async def create_once(
    deps: LibraryDeps,
    call: Call[Any, Any, KeyOwner],
    create: Callable[[Operation], Awaitable[Wire]],
) -> Response:
    """Answer with what `create` returns, which names new things after its operation."""

    async def work(operation: Operation) -> Response:
        created = await create(operation)
        return Response(created.model_dump_json(), media_type="application/json")

    owner = call.caller
    return await run_idempotent(deps, call, uid=owner.uid, caller=owner.key_id, work=work)
