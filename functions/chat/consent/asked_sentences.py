"""Asked sentences: what its writer asks, and so does not say; a request in the form of a question is none.

“Is Eve my lawyer?” proves no memory that she is, whoever answers; “Can you note that Eve is my lawyer?” does.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

_REQUESTS: Final[Mapping[str, Sequence[str]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
_SENTENCE: Final = re.compile(r"[^.!?。！？؟\n]+(?:[.!?。！？؟]+(?!\w)|[.!?]|\n|\Z)")
_ASKS: Final = re.compile(r"(?:[?？؟]|[か吗嗎까][。.]?)\s*\Z")


def drop_asked(text: str) -> str:
    """Return a text without its questions."""
    return "".join(
        sentence
        for sentence in _SENTENCE.findall(text)
        if not _ASKS.search(sentence) or _compile_requests().search(sentence.casefold())
    )


@cache
def _compile_requests() -> re.Pattern[str]:
    """Compile them with the first question: a cold start would pay some milliseconds for it."""
    return re.compile(
        "|".join(
            rf"(?<!\w){re.escape(words)}" if words[0].isascii() else re.escape(words)
            for phrases in _REQUESTS.values()
            for words in phrases
        )
    )
