"""Answer writer of a turn: the model's text, filtered while it streams, as run events."""

from collections.abc import Callable, Iterator, Sequence

from functions.chat.context.citations import CitationRewriter, Citations
from functions.chat.context.numbering import Source
from shared import telemetry
from shared.domain.chats.chat import FileCitation, FilePage
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    CitationShown,
    FileCited,
    OwnText,
    RunEvent,
    Stage,
    StageName,
)
from shared.security.link_filter import LinkFilter


class AnswerWriter:
    """Turns text into events: stages, cards before they are cited, and pieces of the answer.

    `chars` counts the text that was written, before it is filtered.
    """

    def __init__(self, citations: Citations, is_known_url: Callable[[str], bool]) -> None:
        self.chars = 0
        self._citations = citations
        self._is_known_url = is_known_url
        self._stage: StageName | None = None
        self._shown_count = 0
        self.begin_cycle()

    def begin_cycle(self) -> None:
        """Begin the text of a model call, as a paragraph of its own."""
        self._chars_before = self.chars
        self._shown_before = self._shown_count
        self._emitted_chars = 0
        self._separator = "\n\n" if self.chars else ""
        self._link_filter = LinkFilter(self._is_known_url)
        self._citation_rewriter = CitationRewriter(self._citations.render_marker)

    def enter_stage(self, stage: StageName) -> Iterator[Stage]:
        if stage != self._stage:
            self._stage = stage
            if stage == "answering":
                telemetry.mark("first_token")
            yield Stage(stage)

    def write(self, text: str) -> Iterator[RunEvent]:
        """Emit text of the model; without sources, no text is held for a citation."""
        self.chars += len(text)
        text = self._link_filter.feed(text)
        has_sources = bool(self._citations.numbering.sources)
        return self._emit(self._citation_rewriter.feed(text) if has_sources else text)

    def withdraw(self) -> Sequence[RunEvent]:
        """Take back the text of this model call, what is pending included, and what it cited."""
        withdrawn = [AnswerWithdrawn(self._emitted_chars)] if self._emitted_chars else []
        self.chars = self._chars_before
        self._shown_count = self._shown_before
        self._citations.withdraw_shown(self._shown_count)
        self.begin_cycle()
        return withdrawn

    def write_notice(self, text: str) -> Iterator[RunEvent]:
        """Emit a text of ours, unfiltered."""
        self.chars += len(text)
        return self._emit(text, OwnText)

    def quote(self, text: str) -> Iterator[RunEvent]:
        """Emit what others said, filtered as an answer is; no model is given it as its own words."""
        self.chars += len(text)
        text = self._link_filter.feed(text) + self._link_filter.flush()
        text = self._citation_rewriter.feed(text) + self._citation_rewriter.flush()
        return self._emit(text, OwnText)

    def cite(self, number: int) -> Iterator[RunEvent]:
        """Emit a marker of ours for a document that may be cited, behind the text."""
        return self._emit(self._citations.render_marker([number]) or "")

    def flush(self) -> Iterator[RunEvent]:
        """Emit the pending text at the end of a model call, or where the run ends within one."""
        text = self._citation_rewriter.feed(self._link_filter.flush())
        return self._emit(text + self._citation_rewriter.flush())

    def _emit(self, text: str, kind: type[AnswerText] = AnswerText) -> Iterator[RunEvent]:
        if not text:
            return
        yield from self.enter_stage("answering")
        for source in self._citations.shown[self._shown_count :]:
            self._shown_count += 1
            yield _build_citation(self._shown_count, source)
        text = self._separator + text
        self._separator = ""
        self._emitted_chars += len(text)
        yield kind(text)


def _build_citation(number: int, source: Source) -> RunEvent:
    if isinstance(source, FilePage):
        return FileCited(FileCitation(number=number, file=source))
    return CitationShown(number=number, card=source)
