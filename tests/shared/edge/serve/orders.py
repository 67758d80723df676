"""Routes of a shop, in groups that say when they are imported."""

from collections.abc import Sequence
from typing import Any

from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, Route, route
from tests.shared.edge.serve import test_entry_point


@route("GET", "/orders", "List orders", access="anyone")
async def list_orders(_deps: object, _call: Call) -> OkOut:
    return OkOut()


@route("DELETE", "/orders", "Delete all orders", access="anyone")
async def delete_orders(_deps: object, _call: Call) -> OkOut:
    return OkOut()


@route("PATCH", "/orders", "Change all orders", access="anyone")
async def change_orders(_deps: object, _call: Call) -> OkOut:
    return OkOut()


FIRST = (list_orders,)
_LATER: dict[str, Sequence[Route[Any]]] = {
    "deletion": (delete_orders,),
    "all_orders": (list_orders, delete_orders, change_orders),
    "nothing": (),
    "failing": (delete_orders,),
}


def __getattr__(name: str) -> Sequence[Route[Any]]:
    """Note what is asked for; what fails is there the second time."""
    if name not in _LATER:
        raise AttributeError(name)
    test_entry_point.loads.append(name)
    if name == "failing" and test_entry_point.loads == ["failing"]:
        raise ImportError("half of it is there")
    return _LATER[name]
