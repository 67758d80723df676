"""Spans of a test, as they would be sent."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from shared import spans
from shared.spans import Span


class CapturedSpans:
    """What was sent: the spans of each request with the name of its function."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Sequence[Span]]] = []

    def take(self, function: str, batch: Sequence[Span]) -> None:
        self.requests.append((function, batch))

    def find(self, name: str) -> Span:
        return next(span for _, batch in self.requests for span in batch if span.name == name)

    def list_parents(self) -> dict[str, str | None]:
        """Return the name of each span with that of its parent; an id of another process stays."""
        batch = [span for _, each in self.requests for span in each]
        names = {span.trace.span_id: span.name for span in batch}
        return {
            span.name: names.get(span.trace.parent_id or "", span.trace.parent_id) for span in batch
        }


@contextmanager
def capture_spans(*, share: float = 1.0) -> Iterator[CapturedSpans]:
    """Collect what is sent inside, of a share of what begins there."""
    captured = CapturedSpans()
    spans.send_to(captured.take, share=share)
    try:
        yield captured
    finally:
        spans.send_to(None)
