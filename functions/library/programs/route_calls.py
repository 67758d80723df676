"""Route calls: a route of the library, called for its owner from another surface.

What programs do by a key is so the same as what the owner does over HTTP, checks included. Only their words
are not the owner's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import Headers

from shared.data.store.codec import type_adapter
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.domain.provenance import TextKinds
from shared.domain.store.operation import Operation, build_operation
from shared.edge.declare.routes import Call, CreatingCall, Route
from shared.edge.declare.validation_sentences import format_validation_error
from shared.library.deps import LibraryDeps

PROGRAM_KINDS: TextKinds = ("app",)


async def call_route(
    deps: LibraryDeps,
    uid: UserId,
    route: Route[LibraryDeps],
    *,
    path: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | Sequence[Any] | None = None,
    query: Mapping[str, Any] | None = None,
    operation: Operation | None = None,
) -> Any:
    """Return what the route's handler returns. Raises Invalid, and what the handler raises.

    A route that creates something is called within the `operation` of the surface's own route, or within a new one.
    """
    request: dict[str, Any] = {
        "request_line": f"{route.method} {route.path}",
        "uid": uid,
        "body": _validate(route.body, body),
        "path": path or {},
        "query": _validate(route.query, query),
        "headers": Headers(),
        "caller": None,
        "read_kinds": PROGRAM_KINDS,
    }
    if not route.creates:
        return await route.handler(deps, Call(**request))
    new = build_operation("", deps.new_id(), fingerprint="", now=deps.clock.now())
    return await route.handler(deps, CreatingCall(**request, operation=operation or new))


def _validate(kind: Any, fields: Mapping[str, Any] | Sequence[Any] | None) -> Any:
    if kind is None:
        return None
    try:
        return type_adapter(kind).validate_python(fields or {})
    except ValidationError as error:
        raise Invalid(format_validation_error(error)) from error
