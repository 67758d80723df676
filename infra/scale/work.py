"""Work: what one turn, one conversation, one notification, one request of the library and one minute of live speech ask of the parts, as it was measured."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from shared.domain.models.model import Usage

COUNTERS = Path(__file__).with_name("counters.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a model reads and writes; of its `input` some is read from its cache, or written to it."""

    input: float
    output: float
    cached: float = 0.0
    cache_write: float = 0.0

    def to_usage(self) -> Usage:
        """Return them as whole tokens, as a provider counts them."""
        return Usage(
            input_tokens=round(self.input),
            cached_tokens=round(self.cached),
            cache_write_tokens=round(self.cache_write),
            output_tokens=round(self.output),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Counters of one piece of work, over all functions that it runs through.

    `deliveries` are those of events and document triggers. `vector_bytes` are those of sparse rows
    with their metadata; dense values come on top. `stored_bytes` are those of documents, `blobs` files that are written.
    `tokens` are by the name of the model.
    """

    reads: float = 0.0
    writes: float = 0.0
    requests: float = 0.0
    tasks: float = 0.0
    deliveries: float = 0.0
    vector_rows: float = 0.0
    vector_bytes: float = 0.0
    stored_bytes: float = 0.0
    embedded_tokens: float = 0.0
    cpu_s: float = 0.0
    blobs: float = 0.0
    tokens: Mapping[str, Tokens] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The pieces of work that users cause, `live` a minute of speech; `words` are those of the measured conversation."""

    turn: Work
    conversation: Work
    notification: Work
    library: Work
    live: Work
    words: float


def load_counters() -> Counters:
    """Read the committed counters."""
    fields = json.loads(COUNTERS.read_text())
    return Counters(
        turn=_load_work(fields["turn"]),
        conversation=_load_work(fields["conversation"]),
        notification=_load_work(fields["notification"]),
        library=_load_work(fields["library"]),
        live=_load_work(fields["live"]),
        words=fields["words"],
    )


def write_counters(counters: Counters) -> None:
    COUNTERS.write_text(json.dumps(asdict(counters), indent=2) + "\n")


def _load_work(fields: Mapping[str, object]) -> Work:
    counts = {name: amount for name, amount in fields.items() if name != "tokens"}
    tokens = fields["tokens"]
    assert isinstance(tokens, dict)
    return Work(**counts, tokens={model: Tokens(**each) for model, each in tokens.items()})  # type: ignore[arg-type]
