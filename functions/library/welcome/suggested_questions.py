"""Suggested questions: what a library can answer, made from its people, topics, days and tasks.

Also called: starter questions, conversation starters.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from functions.library.welcome.sample_schemas import SuggestedQuestionsOut
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.speaker_labels import is_name
from shared.edge.declare.routes import Call, route
from shared.languages import translate
from shared.library.deps import LibraryDeps
from shared.retrieval.term_weights import FUNCTION_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

MAX_QUESTIONS = 5
OPEN_TASKS = "What do I have to do?"
ABOUT_ME = "What do you know about me?"
ABOUT_A_PERSON = "What did {name} say about {topic}?"
LAST_TALK = "What was my last conversation about?"
LAST_WEEK = "Summarize my conversations last week"
NOTHING_STORED = (
    "Your library is empty. Add a conversation or a file first, or load the sample library to look "
    "around."
)
NOT_PROCESSED = "Your conversations are being read. Ask about them in a moment."
_MAX_READ = 20
_MAX_TASKS = 20
_MAX_PEOPLE = 2
_DAYS_OF_A_WEEK = 7
_MAX_THING_WORDS = 2


@route(
    "GET",
    "/v1/suggested-questions",
    "List questions that the library can answer",
    errors=(401,),
)
async def suggest_questions(deps: LibraryDeps, call: Call) -> SuggestedQuestionsOut:
    processed, page, tasks, memories, profile = await asyncio.gather(
        deps.stores.conversations.list_between(call.uid, limit=_MAX_READ, with_segments=True),
        deps.stores.conversations.list_page(call.uid, limit=1),
        deps.stores.action_items.list_newest(call.uid, limit=_MAX_TASKS),
        deps.stores.memories.list_newest(call.uid, limit=1),
        deps.stores.profiles.get(call.uid),
    )
    language = profile.language or call.language
    questions = [
        *([translate(OPEN_TASKS, language)] if any(not task.completed for task in tasks) else []),
        *ask_about_people(processed, language),
        *ask_about_days(processed, deps.clock.now(), profile.zone, language),
        *([translate(ABOUT_ME, language)] if memories else []),
    ]
    offered = questions[:MAX_QUESTIONS]
    await deps.stores.offered_suggestions.add(call.uid, offered, deps.clock.now())
    hint = NOT_PROCESSED if page.items else NOTHING_STORED
    return SuggestedQuestionsOut(
        questions=offered, hint=None if questions else translate(hint, language)
    )


def ask_about_people(conversations: Sequence[Conversation], language: str | None) -> Iterator[str]:
    """Ask what those who speak most often said about a topic that they did speak of."""
    names = Counter(name for c in conversations for name in _list_others(c))
    asked = (
        translate(ABOUT_A_PERSON, language, name=name, topic=topic)
        for name, _ in names.most_common()
        if (topic := _find_topic(name, conversations))
    )
    yield from islice(asked, _MAX_PEOPLE)


def ask_about_days(
    conversations: Sequence[Conversation], now: datetime, zone: ZoneInfo, language: str | None
) -> Iterator[str]:
    """Ask about the newest conversation, and about last week where something was said in it."""
    if not conversations:
        return
    yield translate(LAST_TALK, language)
    today = now.astimezone(zone).date()
    monday = today - timedelta(today.weekday())
    days = (c.started_at.astimezone(zone).date() for c in conversations)
    if any(monday - timedelta(_DAYS_OF_A_WEEK) <= day < monday for day in days):
        yield translate(LAST_WEEK, language)


def _list_others(conversation: Conversation) -> list[str]:
    speakers = {s.speaker for s in conversation.named_segments if not s.is_user}
    return sorted(name for name in speakers if is_name(name))


def _find_topic(name: str, conversations: Sequence[Conversation]) -> str | None:
    """Return the first topic of a conversation that this speaker named, newest conversation first."""
    for conversation in conversations:
        texts = [s.text for s in conversation.named_segments if s.speaker == name and not s.is_user]
        terms = set(tokenize(" ".join(texts)))
        for topic in [*_split_title(conversation), *conversation.topics.topics]:
            if topic.lower() != name.lower() and _is_topic(topic, terms):
                return topic
    return None


def _is_topic(topic: str, said: set[str]) -> bool:
    """Tell whether this was said, and is more than function words ("you", "ich")."""
    terms = tokenize(topic)
    return said.issuperset(terms) and any(get_term_weight(t) > FUNCTION_WEIGHT for t in terms)


def _split_title(conversation: Conversation) -> list[str]:
    """Return the things that a title lists: they are what was said most."""
    title = conversation.structured.title
    things = re.split(r", | and ", f"{title[:1].lower()}{title[1:]}")
    return [thing for thing in things if len(thing.split()) <= _MAX_THING_WORDS]


ROUTES = (suggest_questions,)
