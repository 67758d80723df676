"""Known models: what servers told of their models, and what these refused, by address and name.

Nothing is asked twice: a process learns it from its first refusal, and keeps it where there is a store.

Also called: model registry, model catalog.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

from shared.domain.value import value

Step = Literal[
    "plain_schemas",
    "json_object",
    "text_answers",
    "no_usage",
    "no_effort",
    "no_cache_marks",
    "other_bound",
    "no_bound",
    "one_system_text",
    "no_system_role",
    "reminder_in_result",
    "alternating",
    "single_calls",
    "short_ids",
    "named_results",
    "wordless_calls",
    "text_content",
    "no_reasoning_back",
    "filled_reasoning",
    "no_pictures",
    "calls_as_text",
    "no_tools",
]
"""A step down the ladder: one thing that requests to a model leave out or say otherwise."""
Quirk = Literal["tagged_thoughts", "written_calls", "no_finish", "wrapped_json"]
"""Something odd in a model's answers that is read all the same."""
WindowSource = Literal["server", "refusal"]
STEP_TTL = timedelta(days=1)
"""After it, the form above is tried once more: providers change."""
_MAX_REFUSED_TOOLS = 500


@value
class KnownModel:
    """What is known of one model at one address; None and empty where nothing is.

    `answer_tokens` is the most that a request may ask it to write, as a refusal said. One that `thinks`
    writes thoughts, which need room; one that `thinks_first` writes them into the answer, without an
    opening tag. One that `calls_natively` never means a call by text. `quirks` were seen in its answers. `steps` are those
    taken, with their times, and `refused_tools` the hashes of declarations, with the times of their refusals.
    """

    window_tokens: int | None = None
    window_source: WindowSource | None = None
    window_refused_at: datetime | None = None
    answer_tokens: int | None = None
    answer_refused_at: datetime | None = None
    places: int | None = None
    parameters: int | None = None
    takes_images: bool | None = None
    takes_tools: bool | None = None
    thinks: bool = False
    thinks_first: bool = False
    calls_natively: bool = False
    quirks: frozenset[Quirk] = frozenset()
    steps: Mapping[Step, datetime] = field(default_factory=dict)
    refused_tools: Mapping[str, datetime] = field(default_factory=dict)

    def find_window(self, now: datetime) -> int | None:
        """Return the tokens it takes; what a refusal named counts for a day."""
        refused_at = self.window_refused_at if self.window_source == "refusal" else None
        is_outdated = refused_at is not None and now - refused_at >= STEP_TTL
        return None if is_outdated else self.window_tokens

    def find_answer_tokens(self, now: datetime) -> int | None:
        """Return the most that a request may ask it to write, as a refusal named within a day."""
        is_outdated = self.answer_refused_at is None or now - self.answer_refused_at >= STEP_TTL
        return None if is_outdated else self.answer_tokens

    def list_steps(self, now: datetime) -> frozenset[Step]:
        """Return the steps that still count."""
        return frozenset(step for step, taken in self.steps.items() if now - taken < STEP_TTL)

    def list_refused_tools(self, now: datetime) -> frozenset[str]:
        """Return the hashes of the tools whose refusals still count."""
        return frozenset(tool for tool, at in self.refused_tools.items() if now - at < STEP_TTL)

    def notice(self, quirk: Quirk) -> "KnownModel":
        return replace(self, quirks=self.quirks | {quirk})

    def take_steps(self, steps: Iterable[Step], now: datetime) -> "KnownModel":
        return replace(self, steps={**self.steps, **dict.fromkeys(steps, now)})

    def refuse_tool(self, declaration_hash: str, now: datetime) -> "KnownModel":
        latest = [*self.refused_tools.items()][1 - _MAX_REFUSED_TOOLS :]
        return replace(self, refused_tools={**dict(latest), declaration_hash: now})


_UNKNOWN = KnownModel()

ModelKey = tuple[str, str]
"""The address of a server and the name of its model."""


class ModelStore(Protocol):
    """Keeps what is known over restarts."""

    def load(self) -> Mapping[ModelKey, KnownModel]:
        """Return all that is kept, by other processes too; what cannot be read counts as nothing.

        It is called before every request, so it reads only what changed.
        """

    def save(self, key: ModelKey, known: KnownModel) -> None:
        """Keep what is known of one model; where that fails, this process remembers it all the same."""


class KnownModels:
    """All models that one process asks; without a store they are forgotten with it."""

    def __init__(self, store: ModelStore | None = None) -> None:
        self._store = store
        self._models: dict[ModelKey, KnownModel] = {}

    def get(self, key: ModelKey) -> KnownModel:
        models = self._models if self._store is None else self._store.load()
        return models.get(key, _UNKNOWN)

    def set(self, key: ModelKey, known: KnownModel) -> None:
        """Replace what is known, and keep it."""
        if known == self.get(key):
            return
        if self._store is None:
            self._models[key] = known
        else:
            self._store.save(key, known)

    def change(self, key: ModelKey, change: Callable[[KnownModel], KnownModel]) -> None:
        """Change what is known at this moment."""
        self.set(key, change(self.get(key)))
