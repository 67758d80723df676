"""Lookup gate of a turn: what was looked up on the web alone is answered with sources, or not at all.

Also called: hallucination guard, grounded answers.
"""

from collections.abc import Collection, Sequence

from functions.chat import user_texts
from functions.chat.loop.tool_policy import WEB_PAGES, WEB_SEARCH
from functions.chat.tools.toolkit import Tool, ToolOutcome
from functions.chat.tools.web_tools import MISSING_WEB_SEARCH
from shared import telemetry
from shared.security.link_filter import extract_urls

MAX_SOURCES = 5


class NoSource(Exception):
    """The web gave no source, or cannot be searched; the message is the text that the owner reads."""


class LookupGate:
    """Watches the calls of a turn. The model decides what is a lookup, by searching the web.

    A turn that uses any other tool is no lookup: it rests on more than the web.
    """

    def __init__(self) -> None:
        self._sources: list[str] = []
        self._searched = False
        self._can_search = True
        self._read_page = False
        self._used_others = False
        self._answer = ""

    @property
    def is_lookup(self) -> bool:
        return self._searched and not self._used_others

    def record(
        self,
        tools: Sequence[Tool | None],
        outcomes: Sequence[ToolOutcome],
        skipped: Collection[int],
    ) -> None:
        """Record the calls that were made, and what they found."""
        for position, (tool, outcome) in enumerate(zip(tools, outcomes, strict=True)):
            if tool is None or position in skipped:
                continue
            if tool.name == MISSING_WEB_SEARCH and not tool.maker:
                self._searched, self._can_search = True, False
            elif tool.maker == WEB_SEARCH:
                self._searched = True
                self._sources += [] if outcome.failed else _list_sources(outcome.text)
            elif tool.maker == WEB_PAGES:
                self._read_page = self._read_page or not outcome.failed
            else:
                self._used_others = True

    def check_answer(self) -> None:
        """Raise NoSource where the model would answer a lookup from its own memory."""
        if self.is_lookup and not self._sources and not self._read_page:
            telemetry.add_fields(lookup="no_verified_answer")
            raise NoSource(user_texts.NO_SOURCE if self._can_search else user_texts.NO_WEB_SEARCH)

    def end_answer(self, text: str) -> None:
        """Take the last text of the model. Raises NoSource."""
        self.check_answer()
        self._answer = text
        if self.is_lookup:
            telemetry.add_fields(lookup="answered")

    def list_unnamed(self) -> Sequence[str]:
        """Return the first sources, where an answer names none of them."""
        if not self._answer or any(source in self._answer for source in self._sources):
            return ()
        return list(dict.fromkeys(self._sources))[:MAX_SOURCES]


def _list_sources(text: str) -> list[str]:
    """Return the https addresses of a result, in their order."""
    urls = (url for url in extract_urls(text) if url.startswith("https://"))
    return sorted(urls, key=text.index)
