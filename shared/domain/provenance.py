"""Provenance of text: the source of a tool's result, and what had been read when a text was written.

What others wrote is data and never instruction.

Also called: data lineage.
"""

from collections.abc import Iterable
from typing import Literal

from shared.domain.value import value

TextKind = Literal[
    "recording", "chat", "file", "paste", "import", "mail", "page", "service", "app", "agent"
]
"""A kind of text that somebody else may have written.

`recording`: the library, with what was derived from recordings; `chat`: what is summed up or found of chats, and
questions that we suggest; `paste`: what the owner pasted or quoted;
`import`: what a file says that somebody said; `page`: of the web; `service`: a connected account but for its
mail; `agent`: one that somebody else wrote.
"""
TextKinds = tuple[TextKind, ...]
"""What had been read when a text was written, each kind once; none where its words are its owner's own."""

_READ: dict[TextKind, str] = {
    "recording": "recordings",
    "chat": "chats",
    "file": "files",
    "paste": "pasted text",
    "import": "imports",
    "mail": "mail",
    "page": "web pages",
    "service": "connected accounts",
    "app": "apps",
    "agent": "an agent of others",
}


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

    @property
    def text_kind(self) -> TextKind:
        """The kind of text that it returns."""
        if self.kind != "service":
            return "recording" if self.kind == "library" else "app"
        return _KIND_BY_SERVICE.get(self.id, "service")

    def __str__(self) -> str:
        return f"{self.kind} {self.name or self.id}".strip()


LIBRARY = Source(kind="library")
_KIND_BY_SERVICE: dict[str, TextKind] = {"gmail": "mail", "perplexity": "page", "web": "page"}


def join_kinds(*kinds: Iterable[TextKind]) -> TextKinds:
    """Return kinds together, each once, in a fixed order."""
    found = {kind for each in kinds for kind in each}
    return tuple(kind for kind in _READ if kind in found)


def describe_origin(kinds: TextKinds | None) -> str:
    """Say for a model from what a text may come; empty where it is its owner's own, or nobody knows."""
    return f"from {', '.join(_READ[kind] for kind in kinds)}" if kinds else ""
