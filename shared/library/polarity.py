"""Polarity of a quotation: “I quit my job at Siemens” proves no job there, although its words do.

Also called: natural language inference.
"""

import anyio

from shared import telemetry
from shared.data.search.question_meaning import WAIT_S, QuestionMeanings
from shared.domain.ids import UserId
from shared.retrieval.denials import measure_denial
from shared.retrieval.proof import find_bearing_clause, proves

MAX_DIFFERENCE = 0.28
"""Of how much two texts lean to those that deny: what follows from a quotation leans nearly as it does."""


async def is_borne(meanings: QuestionMeanings, uid: UserId, quote: str, statement: str) -> bool:
    """Tell whether a quotation bears a statement: by its words, and by what it denies."""
    return proves(quote, statement) and await is_of_one_polarity(meanings, uid, quote, statement)


async def is_of_one_polarity(
    meanings: QuestionMeanings,
    uid: UserId,
    quote: str,
    statement: str,
    *,
    most: float = MAX_DIFFERENCE,
) -> bool:
    """Tell whether a quotation, where it speaks of a statement, and the statement both deny, or neither does.

    They differ by less than `most` then. It may only reject: where nothing compares them in time, they do.
    """
    clause = find_bearing_clause(quote, statement)
    with anyio.move_on_after(WAIT_S):
        try:
            said = await meanings.compare(uid, clause, measure_denial)
            stated = await meanings.compare(uid, statement, measure_denial)
        except Exception as error:  # noqa: BLE001 - whatever fails, the words decide
            telemetry.warning("polarity_not_read", error=type(error).__name__)
        else:
            return said is None or stated is None or abs(said - stated) < most
    return True
