"""Spans of model calls, with the names that OpenTelemetry gives to generative AI; never a prompt."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.domain.models.model import ModelCallFinished, ModelEvent
from shared.spans import Span, open_leaf


class ModelCallSpan:
    """The span of one call, filled in while its answer streams."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def mark_chunk(self) -> None:
        if "gen_ai.response.time_to_first_chunk" not in self._span.attributes:
            self._span.attributes["gen_ai.response.time_to_first_chunk"] = self._span.measure_s()

    def record(self, event: ModelEvent) -> ModelEvent:
        """Note how a call ended, and return the event."""
        if isinstance(event, ModelCallFinished):
            self._span.attributes |= {
                "gen_ai.response.model": event.model,
                "gen_ai.response.finish_reasons": [event.reason],
                "gen_ai.usage.input_tokens": event.usage.input_tokens,
                "gen_ai.usage.cache_read.input_tokens": event.usage.cached_tokens,
                "gen_ai.usage.cache_creation.input_tokens": event.usage.cache_write_tokens,
                "gen_ai.usage.output_tokens": event.usage.output_tokens,
            }
        return event


@contextmanager
def open_model_call(operation: str, model: str) -> Iterator[ModelCallSpan]:
    """Record one attempt at a model, by its operation: `chat` or `embeddings`."""
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": model,
    }
    with open_leaf(f"{operation} {model}", kind="client", attributes=attributes) as span:
        yield ModelCallSpan(span)
