"""Meaning of a question: what it is like, by the labelled examples that are nearest to it.

Also called: query understanding.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from shared.domain.chats.crisis import CrisisLevel
from shared.domain.value import value
from shared.retrieval import question_kinds
from shared.retrieval.asked_tools import find_asked_tools
from shared.retrieval.examples import ExampleTable
from shared.retrieval.question_kinds import QuestionKind
from shared.safety import crisis_examples

SERIOUS_LEVEL = 2


@value
class QuestionMeaning:
    """Shares of kinds, which add up to 1, and the share of serious crises, `danger`, from 0 to 1.

    `tools` are those that it asks for, beside those that most questions use.
    """

    kinds: Mapping[QuestionKind, float]
    danger: float
    tools: Sequence[str] = ()


def compare_with_examples(vector: Sequence[float]) -> QuestionMeaning:
    return QuestionMeaning(
        kinds=question_kinds.load_table().weigh(vector),
        danger=measure_danger(vector),
        tools=find_asked_tools(vector),
    )


def measure_danger(vector: Sequence[float]) -> float:
    """Return the share of serious crises among the examples nearest to a message."""
    weights = load_crisis_table().weigh(vector)
    return sum(share for level, share in weights.items() if level >= SERIOUS_LEVEL)


@cache
def load_crisis_table() -> ExampleTable[CrisisLevel]:
    levels = [level for level, _ in crisis_examples.list_examples()]
    return ExampleTable(levels, crisis_examples.VECTORS)
