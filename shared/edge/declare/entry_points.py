"""Entry points: what a function deploys, as one table; the platform finds each by its name in main.py.

Also called: cloud functions, serverless.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from shared.domain.value import value
from shared.edge.declare.routes import Route


@value
class EntryPoint:
    """A deployed function: the class of its dependencies, and where its routes stand, as "module:NAME".

    Each of `routes` is imported with the first request that nothing before it serves. The routes that most
    instances serve `first`, by `first_deps` where less is enough, and the `stores` that these use are
    imported while the instance starts. What `serves_pages` may be called from a browser. One of sockets has no
    routes: its `application` is built from its dependencies, and uvicorn serves it without the framework.
    """

    name: str
    deps: type
    routes: tuple[str, ...]
    first: str | None = None
    first_deps: type | None = None
    stores: tuple[str, ...] = ()
    serves_pages: bool = False
    application: str | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """Return where its routes stand, in the order in which a request asks them."""
        return (self.first, *self.routes) if self.first else self.routes


def load_routes(place: str) -> Sequence[Route[Any]]:
    """Import the routes that stand at "module:NAME"."""
    routes: Sequence[Route[Any]] = load_place(place)
    return routes


def load_place(place: str) -> Any:
    """Import what stands at "module:NAME"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
