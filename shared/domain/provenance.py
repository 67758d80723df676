"""Provenance of text: the source of a tool's result, which is data and never instruction."""

from typing import Literal

from shared.domain.value import value


@value
class Source:
    """The party that receives a tool's arguments and returns its results.

    `library`: the owner's recordings; `app`: a third party (`id` is the app's); `service`: an
    account that the owner connected (`id` is the service's name). `name` is the name on screen.
    """

    kind: Literal["library", "app", "service"]
    id: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """Name the source among all sources of a user: two have the same key only if they are one."""
        return f"{self.kind}:{self.id}"

    def __str__(self) -> str:
        return f"{self.kind} {self.name or self.id}".strip()


LIBRARY = Source(kind="library")
