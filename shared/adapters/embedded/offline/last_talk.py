"""Last talk: the newest conversation with whom a question names, where it asks for no more; pure.

The speakers of what was found tell who is a person, in any language.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from shared.adapters.embedded.offline.planner import (
    LISTED_CONVERSATIONS,
    PlannedCall,
    drop_summary_words,
    find_asker,
    find_person,
    is_english,
    list_dates,
)
from shared.adapters.embedded.offline.quotes import (
    asks_promise,
    find_speaker,
    quote_passages,
)
from shared.adapters.embedded.offline.results import (
    LIBRARY_TOOLS,
    Results,
    collect_documents,
    format_day,
    format_overview,
    list_texts,
)
from shared.adapters.embedded.offline.spans import drop_past_span, find_past_phrase, find_past_span
from shared.domain.value import value
from shared.retrieval.query import asks_when
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, FREQUENT_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

LAST_TALK = "Your latest conversation with {speaker} was on {day}:"
_WITH_OWNER = re.compile(r"\b(i|we)\b", re.IGNORECASE)
TALKS = "Your conversations with {speaker} {phrase}:"
NO_TALKS = "I found no conversation with {speaker} {phrase}."


@value
class LastTalk:
    """The last talk with a speaker, or those of a time that the question names.

    `is_nearest`: the question asks for more; `is_topic_found`: something of that was said.
    """

    speaker: str
    phrase: str
    is_nearest: bool
    is_topic_found: bool

    def describe(self, documents: Sequence[dict[str, Any]]) -> str:
        if not self.phrase:
            heading = LAST_TALK.format(speaker=self.speaker, day=format_day(documents[0]))
            return f"{heading}\n\n- {format_overview(documents[0])}"
        if not documents:
            return NO_TALKS.format(speaker=self.speaker, phrase=self.phrase)
        days = [f"- {format_day(d)}, {format_overview(d)}" for d in documents]
        return "\n".join([TALKS.format(speaker=self.speaker, phrase=self.phrase), "", *days])


def plan_last_talk(question: str, results: Results, now: datetime | None) -> list[PlannedCall]:
    """Look for the last talk once, after the searches."""
    names = [result.name for result in results]
    is_searched = LIBRARY_TOOLS.issuperset(names) and names[-1:] != ["get_conversations"]
    talk = _find_last_talk(question, results) if is_searched else None
    span = find_past_span(question, now) if now else None
    if talk is None:
        return []
    limits = {**list_dates(span), "limit": LISTED_CONVERSATIONS} if span else {"limit": 1}
    return [("get_conversations", {"speaker": talk.speaker, **limits})]


def read_last_talk(question: str, results: Results) -> tuple[LastTalk, list[dict[str, Any]]] | None:
    """Return the last talk with its conversations, where it was looked for after the searches."""
    searches, last = results[:-1], results[-1:]
    is_looked_for = [result.name for result in last] == ["get_conversations"]
    talk = _find_last_talk(question, searches) if is_looked_for else None
    documents = collect_documents(last)
    return (talk, documents) if talk and (documents or talk.phrase) else None


def _find_last_talk(question: str, results: Results) -> LastTalk | None:
    """Return the last talk that a question asks for, or that is the nearest to what it asks for."""
    speaker = find_speaker(question, quote_passages(collect_documents(results)))
    asks_else = find_person(question) or find_asker(question) or asks_promise(question)
    topic = _list_topic(question, speaker)
    found = {term for text in list_texts(results) for term in tokenize(text)}
    is_topic_found = any(not found.isdisjoint((term, *list_synonyms(term))) for term in topic)
    is_when = asks_when(question) and (_WITH_OWNER.search(question) or not is_english(question))
    if not speaker or asks_else or (is_topic_found and not is_when):
        return None
    return LastTalk(
        speaker=speaker,
        phrase=find_past_phrase(question),
        is_nearest=_asks_more_than_when(question, topic) if is_when else bool(topic),
        is_topic_found=is_topic_found,
    )


def _asks_more_than_when(question: str, topic: Iterable[str]) -> bool:
    """Tell a question for an appointment from one for a call; what is no English may mean either."""
    return is_english(question) and any(get_term_weight(term) > FREQUENT_WEIGHT for term in topic)


def _list_topic(question: str, speaker: str) -> set[str]:
    terms = set(tokenize(drop_summary_words(drop_past_span(question)))) - set(tokenize(speaker))
    return {term for term in terms if get_term_weight(term) > EVERYDAY_WEIGHT}
