"""Memory tool of a voice session: it writes only what the words that the owner said prove."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.consent.consent_reply import parse_reply
from functions.chat.consent.taint import Taint
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.memory_tools import Remember, remember_fact
from functions.chat.tools.toolkit import ResultRenderer, Tool
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId
from shared.domain.provenance import LIBRARY
from shared.domain.value import value
from shared.library.polarity import is_of_one_polarity
from shared.retrieval.passages import stands_in_words
from shared.retrieval.proof import is_proved, proves

NOT_SAID = "The owner did not say these words. Quote them letter for letter, or do not call this."
NOT_PROVED = (
    "The owner's words do not say this. Ask them whether to remember it, in the words of the fact, and call this "
    "again once they said yes."
)


@value
class Spoken:
    """What the owner said of late; `reply` follows `asked`, the last that the model said."""

    said: Sequence[str] = ()
    reply: str = ""
    asked: str = ""

    def is_agreed(self, fact: str) -> bool:
        """Tell whether the owner said yes to the question whether a fact be remembered."""
        return parse_reply(self.reply) == "yes" and proves(self.asked, fact)


class RememberSpoken(Remember):
    """Write down a lasting fact about the owner, when the owner says that it be remembered."""

    user_quote: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=2, max_length=500),
        Field(description="The words by which the owner just asked for it, letter for letter."),
    ]


def build_spoken_memory_tools(deps: ChatDeps, uid: UserId, spoken: Spoken) -> list[Tool]:
    """Build the tool over what was spoken of late."""
    agree = partial(is_of_one_polarity, deps.meanings, uid)

    async def remember(arguments: RememberSpoken) -> ResultRenderer:
        fact, quote = arguments.fact, arguments.user_quote
        is_said = any(is_proved(fact, quote, text) for text in spoken.said)
        if is_said and await agree(quote, fact):
            return await remember_fact(deps, uid, Taint(spoken.said), arguments)
        if not any(stands_in_words(quote, text) for text in spoken.said):
            raise ToolRefused(NOT_SAID)
        if not spoken.is_agreed(fact):
            raise ToolRefused(NOT_PROVED)
        taint = Taint(spoken.said, (LIBRARY.text_kind,), agree)
        return await remember_fact(deps, uid, taint, arguments)

    return [
        build_builtin_tool(
            "remember", "Writing a memory", RememberSpoken, remember, tool_class="write"
        )
    ]
