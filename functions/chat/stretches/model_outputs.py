"""Model output of an ended stretch: what it was about, and what its owner said of themselves."""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shared.library.write_policy import StatementKind, WriteTiming


def _parse_kind(value: object) -> object:
    """Take an unknown kind for a guess, which is dropped."""
    return value if value in get_args(StatementKind) else "guess"


def _parse_timing(value: object) -> object:
    """Take an unknown time for the latest: once another stretch says it too."""
    return value if value in get_args(WriteTiming) else "repeat"


class StretchModel(BaseModel):
    """Base of the schemas; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class StatementOutput(StretchModel):
    """A statement with its proof: `quote` is copied from message number `message`."""

    text: str
    use: Literal["fact", "rule"]
    message: int
    quote: str
    term: str = ""
    kind: Annotated[StatementKind, BeforeValidator(_parse_kind)] = "guess"
    timing: Annotated[WriteTiming, BeforeValidator(_parse_timing)] = "repeat"
    replaces: int | None = None
    repeats: int | None = None


class StretchOutput(StretchModel):
    """What a stretch was about."""

    summary: str
    themes: Sequence[str] = ()
    mood_opened: str = ""
    mood_closed: str = ""
    open_loops: Sequence[str] = ()
    resolved_threads: Sequence[str] = ()
    statements: Sequence[StatementOutput] = ()
