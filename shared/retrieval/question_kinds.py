"""Kinds of questions: what a question is about, by our examples in many languages (question_kinds.json).

Also called: intent classification, query routing.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.retrieval.examples import ExampleTable, read_examples, read_table

QuestionKind = Literal["library", "advice", "general", "action"]
"""What was said, people and plans; what suits the owner, or who they are; what anybody may ask; what apps and the web do."""
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[QuestionKind, str]]:
    return read_examples(_FILE)


@cache
def load_table() -> ExampleTable[QuestionKind]:
    return read_table(_FILE)
