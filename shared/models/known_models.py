"""Known models: what servers told of their models, and what these refused, by address and name.

Nothing is asked twice: a process learns it from its first refusal, and keeps it where there is a store.
"""

from collections.abc import Mapping
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
    "text_content",
    "no_reasoning_back",
    "filled_reasoning",
    "no_pictures",
    "calls_as_text",
    "no_tools",
]
"""A step down the ladder: one thing that requests to a model leave out or say otherwise."""
WindowSource = Literal["server", "refusal"]
STEP_TTL = timedelta(days=1)
"""After it, the form above is tried once more: providers change."""


@value
class KnownModel:
    """What is known of one model at one address; None and empty where nothing is.

    `steps` are those taken, with their times. `refused_tools` are hashes of declarations, with the
    server's words. `answer_tokens` is the most that a request may ask it to write. One that `thinks_first` writes its thoughts into the answer, without an opening tag.
    One that `calls_natively` never means a call by text.
    """

    window_tokens: int | None = None
    answer_tokens: int | None = None
    window_source: WindowSource | None = None
    places: int | None = None
    takes_images: bool | None = None
    takes_tools: bool | None = None
    thinks_first: bool = False
    calls_natively: bool = False
    steps: Mapping[Step, datetime] = field(default_factory=dict)
    refused_tools: Mapping[str, str] = field(default_factory=dict)

    def list_steps(self, now: datetime) -> frozenset[Step]:
        """Return the steps that still count."""
        return frozenset(step for step, taken in self.steps.items() if now - taken < STEP_TTL)

    def take_step(self, step: Step, now: datetime) -> "KnownModel":
        return replace(self, steps={**self.steps, step: now})

    def refuse_tool(self, declaration_hash: str, words: str) -> "KnownModel":
        return replace(self, refused_tools={**self.refused_tools, declaration_hash: words})


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
        return models.get(key, KnownModel())

    def set(self, key: ModelKey, known: KnownModel) -> None:
        """Replace what is known, and keep it."""
        if known == self.get(key):
            return
        if self._store is None:
            self._models[key] = known
        else:
            self._store.save(key, known)
