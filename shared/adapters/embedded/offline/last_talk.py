"""Last talk: the newest conversation with whom a question names, where it asks for no more; pure.

The speakers of what was found tell who is a person, in any language.
"""

from collections.abc import Sequence
from typing import Any

from shared.adapters.embedded.offline.planner import PlannedCall, find_person, is_english
from shared.adapters.embedded.offline.quotes import asks_of_owner, find_speaker, quote_passages
from shared.adapters.embedded.offline.results import (
    collect_documents,
    format_day,
    format_overview,
    list_texts,
)
from shared.domain.value import value
from shared.retrieval.query import asks_when
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

Results = Sequence[tuple[str, str]]

LAST_TALK = "Your latest conversation with {speaker} was on {day}:"
_SEARCHES = frozenset({"search_conversations", "search_memories"})


@value
class LastTalk:
    """The last talk with a speaker, and what else is asked for: whether anything is, and was found."""

    speaker: str
    has_topic: bool
    is_topic_found: bool
    is_when: bool

    def describe(self, document: dict[str, Any]) -> str:
        heading = LAST_TALK.format(speaker=self.speaker, day=format_day(document))
        return f"{heading}\n\n- {format_overview(document)}"


def plan_last_talk(question: str, results: Results) -> list[PlannedCall]:
    """Look for the last talk once, after the searches."""
    is_searched = {name for name, _ in results} <= _SEARCHES
    talk = _find_last_talk(question, results) if is_searched else None
    return [("get_conversations", {"speaker": talk.speaker, "limit": 1})] if talk else []


def read_last_talk(question: str, results: Results) -> tuple[LastTalk, dict[str, Any]] | None:
    """Return the last talk with its conversation, where it was looked for after the searches."""
    searches, last = results[:-1], results[-1:]
    is_looked_for = [name for name, _ in last] == ["get_conversations"]
    talk = _find_last_talk(question, searches) if is_looked_for else None
    documents = collect_documents(last)
    return (talk, documents[0]) if talk and documents else None


def _find_last_talk(question: str, results: Results) -> LastTalk | None:
    """Return the last talk that a question asks for, or that is the nearest to what it asks for."""
    speaker = find_speaker(question, quote_passages(collect_documents(results)))
    topic = _list_topic(question, speaker)
    found = {term for text in list_texts(results) for term in tokenize(text)}
    is_topic_found = any(not found.isdisjoint((term, *list_synonyms(term))) for term in topic)
    is_when = asks_when(question) and (asks_of_owner(question) or not is_english(question))
    if not speaker or find_person(question) or (is_topic_found and not is_when):
        return None
    return LastTalk(
        speaker=speaker, has_topic=bool(topic), is_topic_found=is_topic_found, is_when=is_when
    )


def _list_topic(question: str, speaker: str) -> set[str]:
    terms = set(tokenize(question)) - set(tokenize(speaker))
    return {term for term in terms if get_term_weight(term) > EVERYDAY_WEIGHT}
