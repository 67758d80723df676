"""Meaning of a question: what it is like, by the labelled examples that are nearest to it.

Also called: query understanding.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import TypeVar

import anyio
from anyio import to_thread

from shared import telemetry
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import EncodeQuestion
from shared.retrieval import question_kinds
from shared.retrieval.asked_tools import find_asked_tools
from shared.retrieval.examples import ExampleTable
from shared.retrieval.question_kinds import QuestionKind
from shared.safety import crisis_examples
from shared.safety.crisis_examples import CrisisLabel

T = TypeVar("T")
WAIT_S = 3.0
"""A cold encoder takes a second to compare a question, one with fifty questions two."""
ALONE_WAIT_S = 15.0
MOST = 0.5
_SERIOUS: Sequence[CrisisLabel] = (2, 3)
_NONE: Sequence[CrisisLabel] = (0,)
_HARM: Sequence[CrisisLabel] = ("harm",)


@value
class QuestionMeaning:
    """Shares of kinds, which add up to 1; how much it leans to people in danger, and to harm, from 0 to 1.

    `language` (ISO 639-1) is that of most examples near to it, None where these are of several. `tools` are those that
    it asks for beside the search.
    """

    kinds: Mapping[QuestionKind, float]
    danger: float
    harm: float = 0.0
    language: str | None = None
    tools: Sequence[str] = ()


UNMEASURED = QuestionMeaning(kinds={}, danger=0.0)
"""What was not compared with the examples in time."""


class QuestionMeanings:
    """Compares questions with the examples; without `encode`, where no encoder runs, with nothing."""

    def __init__(self, encode: EncodeQuestion | None = None) -> None:
        self._encode = encode

    async def read(self, uid: UserId, question: str) -> QuestionMeaning | None:
        """Return what a question is like; None without an encoder. Raises what the encoder raises."""
        if self._encode is None or not question.strip():
            return None
        return await to_thread.run_sync(compare_with_examples, await self._encode(uid, question))

    async def compare(
        self, uid: UserId, text: str, measure: Callable[[Sequence[float]], T]
    ) -> T | None:
        """Return what a table of examples tells of a text; None without an encoder. Raises what that raises."""
        if self._encode is None:
            return None
        return await to_thread.run_sync(measure, await self._encode(uid, text))


async def read_in_time(
    reading: Awaitable[QuestionMeaning | None], *, is_alone: bool
) -> QuestionMeaning | None:
    """Return what a question is like: None where no encoder runs, UNMEASURED where it does not say so in time.

    Where it is alone, because no model reads the question, it is waited for longer.
    """
    with anyio.move_on_after(ALONE_WAIT_S if is_alone else WAIT_S):
        try:
            return await reading
        except ModelFailed:
            telemetry.add_fields(meaning="no encoder")  # this machine cannot run it
            return None
        except Exception as error:  # noqa: BLE001 - a question is answered without it
            telemetry.warning("question_not_compared", error=type(error).__name__)
    telemetry.add_fields(meaning="unmeasured")
    return UNMEASURED


def compare_with_examples(vector: Sequence[float]) -> QuestionMeaning:
    return QuestionMeaning(
        kinds=question_kinds.load_table().weigh(vector),
        danger=measure_danger(vector),
        harm=load_crisis_table().lean(vector, to=_HARM, against=_NONE),
        language=find_language(vector),
        tools=find_asked_tools(vector),
    )


def measure_danger(vector: Sequence[float]) -> float:
    """Return how much a message leans to those of people in serious or acute danger."""
    return load_crisis_table().lean(vector, to=_SERIOUS, against=(*_NONE, *_HARM))


def find_language(vector: Sequence[float]) -> str | None:
    """Return the language that half of the nearest examples have; None without one."""
    shares = _load_language_table().weigh(vector)
    return next((language for language, share in shares.items() if share >= MOST), None)


@cache
def _load_language_table() -> ExampleTable[str]:
    return ExampleTable(crisis_examples.list_languages(), crisis_examples.VECTORS)


@cache
def load_crisis_table() -> ExampleTable[CrisisLabel]:
    labels = [label for label, _ in crisis_examples.list_examples()]
    return ExampleTable(labels, crisis_examples.VECTORS)
