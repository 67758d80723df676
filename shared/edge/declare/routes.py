"""Routes: a handler with its method, its paths and the types of what it takes and returns.

    @route("GET", "/v1/apps/{app_id}", "Show an app", errors=(404,))
    async def get_app(deps: AppDeps, call: Call) -> AppOut: ...

The decorator reads the types of body and query from `Call[Body, Query]`, and the type of the answer
from the return annotation. A handler that takes a `CreatingCall` is called once for each Idempotency-Key. The router, docs/openapi.json and the fuzzer all read the same rows.

Also called: endpoints, URL routing.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from operator import or_
from types import UnionType
from typing import Any, Generic, Literal, TypeAlias, TypedDict, Unpack, get_args, get_origin

from starlette.datastructures import Headers
from starlette.responses import Response
from typing_extensions import TypeVar

from shared.domain.account.account import TokenCheck
from shared.domain.ids import UserId
from shared.domain.provenance import TextKinds
from shared.domain.store.operation import Operation
from shared.domain.value import value
from shared.edge.declare.schemas import Wire
from shared.languages import choose_accepted

BodyT_co = TypeVar("BodyT_co", default=None, covariant=True)
QueryT_co = TypeVar("QueryT_co", default=None, covariant=True)
CallerT_co = TypeVar("CallerT_co", default=None, covariant=True)
DepsT_contra = TypeVar("DepsT_contra", contravariant=True)
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Access = Literal["user", "service", "anyone"]
DEFAULT_MAX_BYTES = 16_384


@value
class Form:
    """The fields of a multipart form that a route accepts beside JSON.

    `json_field` is the body as JSON text, which may be missing where there are files and it
    `is_json_optional`; without a `json_field`, the texts of the form are the fields of the body.
    `file_field` is at most `max_files` files of together `max_file_bytes`.
    """

    json_field: str | None
    file_field: str
    max_file_bytes: int
    max_files: int = 1
    is_json_optional: bool = False


@value
class UploadedFile:
    """A file of a form, with the name that its sender gave it."""

    name: str
    content: bytes


@value
class Call(Generic[BodyT_co, QueryT_co, CallerT_co]):
    """A request whose caller is verified and whose input is validated.

    `uid` is empty unless the route's access is `user`. `request_line` is method and path, as
    `POST /v1/inbox/n1/read`. `Call` alone has neither body nor query; `Call[bytes]` has its body as
    it was sent, whatever its content type. `caller` is what the route's `authorize` returned. `files`
    came with the body of a route that has a `form`; `file` is the first of them. `read_kinds` are the kinds of
    text of others from which its words may come: none where its owner sent them.
    """

    request_line: str
    uid: UserId
    body: BodyT_co
    path: Mapping[str, str]
    query: QueryT_co
    headers: Headers
    caller: CallerT_co
    files: Sequence[UploadedFile] = ()
    read_kinds: TextKinds = ()

    @property
    def file(self) -> UploadedFile | None:
        return self.files[0] if self.files else None

    @property
    def language(self) -> str | None:
        """The first language that the client accepts and we have; None for none of them."""
        return choose_accepted(self.headers.get("accept-language"))


@value
class CreatingCall(Call[BodyT_co, QueryT_co, CallerT_co]):
    """A request to create something, which is done once for each Idempotency-Key.

    The edge gives every repeat within 24 hours the answer of the first. What the handler creates is
    named after `operation`, so that an attempt continues what a crashed one began; it raises
    CallerError only before it changed anything. A caller that `authorize` returned has a `uid`, of
    the user concerned, and an `id`: keys of others are other keys.
    """

    operation: Operation


Handler: TypeAlias = Callable[[DepsT_contra, Any], Awaitable[Any]]
Authorize: TypeAlias = Callable[[Any, Call[None, Mapping[str, str]]], Awaitable[Any]]


@value
class Route(Generic[DepsT_contra]):
    """One row of a route table; `@route` makes it.

    `handler(deps, call)` returns a value of the type `response`, or a Response that is sent as it
    stands. `check` is how a user's token is judged. `authorize(deps, call)` verifies callers whom
    `access` does not; it is called before the body is read, with the query as it was sent. `headers` are those that the handler
    reads, by alias. `other_statuses` are its other good statuses. `errors` are the statuses of its
    refusals; those that body, query and access imply need not be listed. Those of `protocol_errors` may be
    JSON as another protocol defines it. `max_bytes` is the size of the largest body that has a use. With `is_query_accepted`, fields that the body lacks are read
    from the query, as released apps send them. With a `form`, the body may come as a field of a
    multipart form too; `max_bytes` is then the size of that field. A change (PATCH, PUT) refuses
    fields that its body does not know, by name, so that no edit is lost in silence; one whose
    senders know more than is kept here `ignores_unknown_fields`. A route `creates` if its handler
    takes a CreatingCall. docs/openapi.json leaves out what nobody should call: it is not `is_described`.
    """

    method: Method
    path: str
    summary: str
    handler: Handler[DepsT_contra]
    body: Any
    query: type[Wire] | None
    response: Any
    access: Access = "user"
    check: TokenCheck = "standard"
    authorize: Authorize | None = None
    headers: type[Wire] | None = None
    status: int = 200
    other_statuses: Sequence[int] = field(default=())
    errors: Sequence[int] = field(default=())
    protocol_errors: Sequence[int] = field(default=())
    media_type: str = "application/json"
    max_bytes: int = DEFAULT_MAX_BYTES
    cancels_on_disconnect: bool = False
    is_query_accepted: bool = False
    form: Form | None = None
    ignores_unknown_fields: bool = False
    creates: bool = False
    is_described: bool = True

    @property
    def refuses_unknown_fields(self) -> bool:
        return self.method in ("PATCH", "PUT") and not self.ignores_unknown_fields

    def at(self, path: str) -> "Route[DepsT_contra]":
        """Return the same route at another path, for released apps that call it there."""
        return replace(self, path=path)


@value
class LateRoutes:
    """Routes that few instances serve: `load` imports them, and `build_deps` what they need."""

    load: Callable[[], Sequence[Route[Any]]]
    build_deps: Callable[[], Any]


class RouteOptions(TypedDict, total=False):
    """The fields of a route that have defaults."""

    access: Access
    check: TokenCheck
    authorize: Authorize
    headers: type[Wire]
    status: int
    other_statuses: Sequence[int]
    errors: Sequence[int]
    protocol_errors: Sequence[int]
    media_type: str
    max_bytes: int
    cancels_on_disconnect: bool
    is_query_accepted: bool
    form: Form
    ignores_unknown_fields: bool
    is_described: bool


def route(
    method: Method, path: str, summary: str, **options: Unpack[RouteOptions]
) -> Callable[[Handler[DepsT_contra]], Route[DepsT_contra]]:
    """Make a handler, `async def handler(deps, call: Call[…]) -> …`, a route."""

    def build_route(handler: Handler[DepsT_contra]) -> Route[DepsT_contra]:
        _, call_type, return_type = handler.__annotations__.values()
        body, query = _parse_call_type(call_type)
        return Route(
            method=method,
            path=path,
            summary=summary,
            handler=handler,
            body=body,
            query=query,
            response=_parse_return_type(return_type),
            creates=_find_class(call_type) is CreatingCall,
            **options,
        )

    return build_route


def _parse_call_type(annotation: Any) -> tuple[Any, Any]:
    """Return the types of body and query; None where there is none. Raises TypeError."""
    if _find_class(annotation) not in (Call, CreatingCall):
        raise TypeError(f"a handler takes deps and a Call, not {annotation!r}")
    body, query, _ = get_args(annotation) or (None, None, None)
    return _to_optional(body), _to_optional(query)


def _find_class(annotation: Any) -> Any:
    """Return the class of `Call[Body, Query]`, or of `Call` alone."""
    return annotation if get_origin(annotation) is None else get_origin(annotation)


def _to_optional(kind: Any) -> Any:
    return None if kind is type(None) else kind


def _parse_return_type(annotation: Any) -> Any:
    """Return the type of the answer's body: what is returned beside a Response; None for no body.

    With `X | None`, the body may be null.
    """
    is_union = isinstance(annotation, UnionType)
    kinds = get_args(annotation) if is_union else (annotation,)
    body_types = [kind for kind in kinds if not _is_response(kind)]
    return _to_optional(reduce(or_, body_types)) if body_types else None


def _is_response(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Response)
