"""Own words of the owner: whether what a call would write stands in their messages of this chat.

A text that somebody else wrote may ask for a memory or a task; its words are not the owner's.

Also called: taint tracking, provenance check.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from functions.chat.consent.asked_sentences import drop_asked
from shared.retrieval.proof import proves
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

_NAMES_OF_OWNER = frozenset(tokenize("user owner"))
"""Facts call the owner so, who says “I”."""


Agree = Callable[[str, str], Awaitable[bool]]
"""Tells whether a message, where its words prove a text, says so and does not deny it."""


async def stand_in_own_words(
    texts: Iterable[str], own_texts: Iterable[str], agree: Agree | None = None
) -> bool:
    """Tell whether each word that means something in each text stands in one message of its owner, which proves it.

    A text that means nothing by its words, such as a sign, is nobody's. What is asked is not said.
    """
    own = [(text, frozenset(tokenize(text))) for text in map(drop_asked, own_texts)]
    for text in filter(str.strip, texts):
        meant = _list_meant(text)
        proving = (said for said, terms in own if meant <= terms and proves(said, text))
        if not await _says_any(proving, text, agree):
            return False
    return True


async def _says_any(proving: Iterable[str], text: str, agree: Agree | None) -> bool:
    for said in proving:
        if agree is None or await agree(said, text):
            return True
    return False


def _list_meant(text: str) -> AbstractSet[str]:
    meant = {term for term in tokenize(text) if get_term_weight(term) > 0}
    return meant - _NAMES_OF_OWNER


def list_texts(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that a call gives.

    Ids, choices and times are none: they name what is there, or when.
    """
    for name, value in arguments.items():
        if isinstance(value, str) and not _is_name_or_time(
            name, schema.get("properties", {}).get(name, {})
        ):
            yield value
        elif isinstance(value, list | tuple):
            yield from (each for each in value if isinstance(each, str))


def _is_name_or_time(name: str, schema: Mapping[str, Any]) -> bool:
    kinds = [schema, *schema.get("anyOf", ())]
    return name.endswith("_id") or any(kind.keys() & {"enum", "format", "const"} for kind in kinds)
