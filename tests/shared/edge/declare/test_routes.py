"""Routes: the types that the decorator reads from a handler's annotations."""

from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from shared.edge.declare.common_schemas import OkOut, PageQuery
from shared.edge.declare.routes import Call, Route, route
from shared.edge.declare.schemas import Wire

Deps = object


class OrderIn(Wire):
    item: str


@route("GET", "/none", "Take and return nothing")
async def take_nothing(_deps: Deps, _call: Call) -> None: ...


@route("POST", "/body", "Take a body", status=201, errors=(409,))
async def take_body(_deps: Deps, _call: Call[OrderIn]) -> OkOut:
    return OkOut()


@route("GET", "/query", "Take a query")
async def take_query(_deps: Deps, _call: Call[None, PageQuery]) -> list[OkOut] | Response:
    return []


@route("POST", "/both", "Take a body and a query")
async def take_both(_deps: Deps, _call: Call[OrderIn, PageQuery]) -> OrderIn | OkOut | JSONResponse:
    return OkOut()


@route("POST", "/bytes", "Take a body as it was sent", access="service")
async def take_bytes(_deps: Deps, _call: Call[bytes]) -> Response:
    return Response()


@route("GET", "/maybe", "Return something or null")
async def return_perhaps(_deps: Deps, _call: Call) -> OkOut | None:
    return None


@pytest.mark.parametrize(
    ("row", "body", "query", "response"),
    [
        (take_nothing, None, None, None),
        (take_body, OrderIn, None, OkOut),
        (take_query, None, PageQuery, list[OkOut]),
        (take_both, OrderIn, PageQuery, OrderIn | OkOut),
        (take_bytes, bytes, None, None),
        (return_perhaps, None, None, OkOut | None),
    ],
)
def test_a_route_takes_its_types_from_the_handlers_annotations(
    row: Route[Any], body: Any, query: Any, response: Any
):
    assert (row.body, row.query, row.response) == (body, query, response)


def test_a_route_keeps_its_options_and_has_defaults_for_the_rest():
    assert (take_body.method, take_body.path, take_body.status) == ("POST", "/body", 201)
    assert (take_body.access, take_bytes.access) == ("user", "service")
    assert take_body.errors == (409,)


def test_a_route_at_another_path_has_the_same_handler():
    old = take_body.at("/v1/body")

    assert (old.path, old.method, old.handler) == ("/v1/body", "POST", take_body.handler)
    assert take_body.path == "/body"


def test_a_handler_whose_request_is_no_call_is_refused() -> None:
    async def take_text(_deps: Deps, _call: "Call[OrderIn]") -> OkOut:
        return OkOut()

    with pytest.raises(TypeError, match="takes deps and a Call"):
        route("POST", "/text", "Take a body named by text")(take_text)
