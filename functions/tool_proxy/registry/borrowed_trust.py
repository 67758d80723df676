"""Borrowed trust: whether a name sounds like one of ours or an authority's, by our examples in many languages (borrowed_trust.json).

“Account Recovery” speaks for the product without naming it; “Savings Account Interest” says what an app does.

Also called: impersonation defence, name moderation.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio

from functions.tool_proxy.registry.reserved_names import read_look_alikes
from shared import telemetry
from shared.domain.ids import UserId
from shared.security.visible_text import strip_invisible

if TYPE_CHECKING:
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.retrieval.examples import ExampleTable

NameKind = Literal["borrows", "says"]
BORROWS = 0.7
"""How much a name leans to those that borrow trust, from 0 to 1, as of which it does."""
_BORROWS: Sequence[NameKind] = ("borrows",)
_SAYS: Sequence[NameKind] = ("says",)
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[NameKind, str]]:
    from shared.retrieval.examples import read_examples

    return read_examples(_FILE)


@cache
def load_table() -> "ExampleTable[NameKind]":
    from shared.retrieval.examples import read_table  # apps are listed without it

    return read_table(_FILE)


def measure_trust(vector: Sequence[float]) -> float:
    """Return how much a name leans to those that borrow trust, from 0 to 1."""
    return load_table().lean(vector, to=_BORROWS, against=_SAYS)


async def sounds_trusted(meanings: "QuestionMeanings", uid: UserId, name: str) -> bool:
    """Tell whether people would take a name for the product's or an authority's.

    Where nothing compares it in time, it does not: the exact rules decide alone.
    """
    from shared.data.search.question_meaning import WAIT_S

    with anyio.move_on_after(WAIT_S):
        try:
            leans = [await meanings.compare(uid, each, measure_trust) for each in _list_forms(name)]
        except Exception as error:  # noqa: BLE001 - whatever fails, the exact rules decide
            telemetry.warning("name_not_compared", error=type(error).__name__)
        else:
            return any(lean is not None and lean >= BORROWS for lean in leans)
    return False


def _list_forms(name: str) -> Sequence[str]:
    """Return a name as it is written and, with look-alikes in it, as it is read."""
    visible = unicodedata.normalize("NFKC", strip_invisible(name))
    return list(dict.fromkeys((visible, read_look_alikes(visible))))
