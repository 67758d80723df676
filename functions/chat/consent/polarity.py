"""Polarity of a quotation: “I quit my job at Siemens” proves no job there, although its words do.

Also called: natural language inference.
"""

import anyio

from shared import telemetry
from shared.data.search.question_meaning import WAIT_S, QuestionMeanings
from shared.domain.ids import UserId
from shared.retrieval.denials import DENIES, measure_denial


async def is_of_one_polarity(
    meanings: QuestionMeanings, uid: UserId, quote: str, statement: str
) -> bool:
    """Tell whether a quotation and a statement both deny, or neither does.

    It may only reject: where nothing compares them in time, they do.
    """
    with anyio.move_on_after(WAIT_S):
        try:
            denials = [
                await meanings.compare(uid, text, measure_denial) for text in (quote, statement)
            ]
        except Exception as error:  # noqa: BLE001 - whatever fails, the words decide
            telemetry.warning("polarity_not_read", error=type(error).__name__)
        else:
            return len({denial >= DENIES for denial in denials if denial is not None}) <= 1
    return True
