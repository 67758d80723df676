"""Doubles: recordings of one talk by several devices, which their owner may merge.

Also called: near-duplicate detection.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.conversations.conversation import Conversation, Segment, Visibility
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Source, Utc
from shared.library.deps import LibraryDeps
from shared.retrieval.terms import tokenize

LONGEST_TALK = timedelta(hours=12)
"""What began earlier is not looked at."""
MAX_BESIDE = 20
MAX_DOUBLES = 5
CLOCKS_APART = timedelta(minutes=2)
SAME_SHARE = 0.4
"""Of the pairs of neighbouring words: devices mishear differently, and other talks share a tenth."""
MIN_PAIRS = 8
"""Fewer are a greeting that anybody says."""
Pairs = frozenset[tuple[str, str]]


class DoubleOut(Wire):
    """Another recording of the same talk."""

    id: str
    title: str
    started_at: Utc
    source: Source
    visibility: Visibility


@route(
    "GET",
    "/v1/conversations/{conversation_id}/doubles",
    "List other recordings of the same talk, which may be merged with it",
    errors=(401, 404),
)
async def list_doubles(deps: LibraryDeps, call: Call) -> list[DoubleOut]:
    conversation_id = ConversationId(call.path["conversation_id"])
    talk = await deps.stores.conversations.get(call.uid, conversation_id)
    return [
        DoubleOut(
            id=each.id,
            title=each.structured.title,
            started_at=each.started_at,
            source=each.source,
            visibility=each.visibility,
        )
        for each in await find_doubles(deps, call.uid, talk)
    ]


async def find_doubles(deps: LibraryDeps, uid: UserId, talk: Conversation) -> list[Conversation]:
    """Return the processed conversations that hold the same talk, newest first; `talk` is loaded."""
    listed = await deps.stores.conversations.list_between(
        uid,
        start=talk.started_at - LONGEST_TALK,
        end=talk.finished_at + CLOCKS_APART,
        limit=MAX_BESIDE,
    )
    beside = [each.id for each in listed if each.id != talk.id and _are_at_one_time(talk, each)]
    stored = await deps.stores.conversations.find_many(uid, beside[:MAX_DOUBLES])
    loaded = await deps.stores.conversations.load_transcripts(uid, stored)
    others = [each for each in loaded if each is not None]

    def compare() -> list[Conversation]:
        return [other for other in others if hold_same_talk(talk, other)]

    return await run_beside_the_loop([talk, *others], compare)


def hold_same_talk(one: Conversation, other: Conversation) -> bool:
    """Tell whether two recordings, which are loaded, were made of one talk: at one time, and mostly in the same words."""
    if not _are_at_one_time(one, other):
        return False
    first = max(one.started_at, other.started_at) - CLOCKS_APART
    last = min(one.finished_at, other.finished_at) + CLOCKS_APART
    pairs = [_list_pairs(each, first, last) for each in (one, other)]
    fewest = min(map(len, pairs))
    return fewest >= MIN_PAIRS and len(pairs[0] & pairs[1]) >= SAME_SHARE * fewest


def _are_at_one_time(one: Conversation, other: Conversation) -> bool:
    """Tell whether half of the shorter one, at least, was recorded while the other was, by clocks that may differ."""
    shared = min(one.finished_at, other.finished_at) - max(one.started_at, other.started_at)
    shorter = min(each.finished_at - each.started_at for each in (one, other))
    return shared + CLOCKS_APART >= max(shorter, timedelta(0)) / 2


def _list_pairs(talk: Conversation, first: datetime, last: datetime) -> Pairs:
    segments = _list_between(talk, first, last)
    return frozenset(pair for segment in segments for pair in pairwise(tokenize(segment.text)))


def _list_between(talk: Conversation, first: datetime, last: datetime) -> Iterator[Segment]:
    """Yield what was said between two times; all of it where nobody noted the times."""
    has_times = any(segment.end for segment in talk.transcript_segments)
    start_s, end_s = ((time - talk.started_at).total_seconds() for time in (first, last))
    for segment in talk.transcript_segments:
        if not has_times or (segment.end >= start_s and segment.start <= end_s):
            yield segment


ROUTES = (list_doubles,)
