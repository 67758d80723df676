"""Tools that a question asks for beside the search, by our examples in many languages (asked_tools.json).

Also called: tool selection, tool retrieval.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from shared.retrieval import question_kinds
from shared.retrieval.examples import ExampleTable, read_examples

MIN_SHARE = 0.15
"""Of the weight of the nearest examples, for a tool to be asked for: one too many costs its tokens, one too few the answer."""
MAX_ASKED = 3
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[str | None, str]]:
    """Return examples with the tool that each asks for; None: it asks for none of these."""
    others = [text for kind, text in question_kinds.list_examples() if kind != "action"]
    return [*read_examples(_FILE), *((None, text) for text in others)]


@cache
def load_table() -> ExampleTable[str | None]:
    return ExampleTable([tool for tool, _ in list_examples()], _FILE.with_suffix(".npz"))


def find_asked_tools(vector: Sequence[float]) -> Sequence[str]:
    """Return the tools that a question is nearest to, the nearest first."""
    shares = load_table().weigh(vector)
    tools = [tool for tool, share in shares.items() if tool and share >= MIN_SHARE]
    return sorted(tools, key=lambda tool: -shares[tool])[:MAX_ASKED]
