"""Provenance of text: the source of a tool's result, which is data and never instruction."""

import re
from html import escape
from typing import Literal

from shared.domain.text import strip_invisible
from shared.domain.value import value

_FENCE_TAG = re.compile(r"<(?=\s*/?\s*data)", re.IGNORECASE)


@value
class Source:
    """Who a tool's results come from, and who is told its arguments.

    `library` is what the owner recorded, `app` what a third party serves (`id` is the app's), and
    `service` an account that the owner connected (`id` is the service's name). `name` is what the
    owner calls it.
    """

    kind: Literal["library", "app", "service"]
    id: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name or self.id}".strip()


LIBRARY = Source(kind="library")


def fence_untrusted(text: str, source: Source) -> str:
    """Fence words of others, naming whose they are; nothing in them can close the fence."""
    source_label = escape(" ".join(strip_invisible(str(source)).split()))
    return f'<data from="{source_label}">\n{_FENCE_TAG.sub("‹", text)}\n</data>'
