"""Kinds of questions: what a question is about, by our examples in many languages (question_kinds.json).

Also called: intent classification, query routing.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.retrieval.examples import ExampleTable

QuestionKind = Literal["library", "advice", "general", "action"]
"""What was said, people and plans; what suits the owner, or who they are; what anybody may ask; what apps and the web do."""
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[QuestionKind, str]]:
    by_kind: Mapping[QuestionKind, Sequence[str]] = json.loads(_FILE.read_text("utf-8"))
    return [(kind, text) for kind, texts in by_kind.items() for text in texts]


@cache
def load_table() -> ExampleTable[QuestionKind]:
    return ExampleTable([kind for kind, _ in list_examples()], _FILE.with_suffix(".npz"))
