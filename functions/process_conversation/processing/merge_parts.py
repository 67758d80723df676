"""Merging of what a model made of the parts of a transcript; pure.

Neighbouring parts hold some turns both, so what was said there may come twice, and in other words.

Also called: map-reduce.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from zoneinfo import ZoneInfo

from functions.process_conversation.processing.model_outputs import MemoryOutput
from functions.process_conversation.processing.structure import MAX_OVERVIEW_CHARS
from functions.process_conversation.processing.transcript_parts import Line
from shared.domain.conversations.conversation import Event, ExtractedItem, Structured, Topics
from shared.domain.conversations.own_names import build_name_key
from shared.domain.value import value
from shared.domain.wall_clock import DAY_END, EVENING
from shared.domain.words import normalise
from shared.retrieval.term_weights import FUNCTION_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

Terms = frozenset[str]
MAX_MERGED_LENGTH = 100
"""Of each list: a commit holds at most 500 writes, and old tasks go with it."""
MAX_MERGED_OVERVIEW_CHARS = 3 * MAX_OVERVIEW_CHARS
SAME_SHARE = 0.6
"""Two wordings of one thing share at least this part of the terms of the shorter one."""
TOLD_SHARE = 0.5
"""Two wordings that a model takes for the same share at least this part of what tells something."""
SPOKEN_SHARE = 0.5
"""What rests on some turns has at least this part of its terms from them."""


class PartWords:
    """The terms of a part, and of its turns that the part before it holds as well."""

    def __init__(self, lines: Sequence[Line], overlap: Sequence[Line] = ()) -> None:
        self._lines = lines
        self._overlap = overlap

    @cached_property
    def overlap_terms(self) -> Terms:
        return _list_terms(self._overlap)

    @cached_property
    def terms(self) -> Terms:
        return self.overlap_terms | _list_terms(self._lines)


@value
class PartContent:
    """What a model made of a part."""

    structured: Structured
    topics: Topics
    words: PartWords


def merge_structures(parts: Sequence[PartContent]) -> Structured:
    """Join overviews and lists, these without doubles; the title is that of the part that is most like the others."""
    if len(parts) < 2:
        return parts[0].structured if parts else Structured()
    categories = Counter(part.structured.category for part in parts)
    return replace(
        _find_typical(parts).structured,
        overview=_join_overviews([part.structured.overview for part in parts]),
        category=categories.most_common(1)[0][0],
        action_items=tuple(_merge_items(parts))[:MAX_MERGED_LENGTH],
        events=tuple(_merge_events(parts))[:MAX_MERGED_LENGTH],
    )


def merge_repeated(
    structured: Structured, repeats: Iterable[tuple[int, int]], zone: ZoneInfo
) -> Structured:
    """Join tasks of which a model says that the one repeats the other, an earlier one; both by their places.

    It is believed where they share half of what tells something in the shorter one, and differ neither in their
    owner nor in their day.
    """
    items = dict(enumerate(structured.action_items))
    joined: dict[int, int] = {}
    for number, repeated in sorted(repeats):
        first = joined.get(repeated, repeated)
        if first < number and {first, number} <= items.keys():
            one, other = items[first], items[number]
            if _may_be_same(one, other, zone):
                due_at = _choose_due(one, other, zone)
                items[first] = replace(_join_items(one, other), due_at=due_at)
                joined[number] = first
                del items[number]
    return replace(structured, action_items=tuple(items.values()))


def merge_topics(parts: Sequence[PartContent]) -> Topics:
    """Return each name once that any part contains; of too many, those that most parts contain."""
    topics = [part.topics for part in parts]
    return Topics(
        people=_merge_names([each.people for each in topics]),
        topics=_merge_names([each.topics for each in topics]),
        entities=_merge_names([each.entities for each in topics]),
        dates=_merge_names([each.dates for each in topics]),
    )


def merge_memories(
    parts: Sequence[Sequence[MemoryOutput]], lines: Sequence[Line]
) -> list[MemoryOutput]:
    """Return the memories of all parts; of two with the same proof, that of the later part.

    It read the turns that follow, by which a proof may turn out to be a joke.
    """
    kept = [*map(list, parts)]
    for earlier, later in pairwise(kept):
        earlier[:] = [m for m in earlier if not any(_has_same_proof(m, n, lines) for n in later)]
    return [memory for part in kept for memory in part]


def _find_typical(parts: Sequence[PartContent]) -> PartContent:
    """Return the first part of those whose topics most other parts name too."""
    counts = Counter(normalise(name) for part in parts for name in part.topics.topics)
    return max(parts, key=lambda part: sum(counts[normalise(n)] - 1 for n in part.topics.topics))


def _join_overviews(overviews: Sequence[str]) -> str:
    spoken = [overview for overview in overviews if overview]
    limit = MAX_MERGED_OVERVIEW_CHARS // max(len(spoken), 1)
    return "\n\n".join(_shorten(overview, limit) for overview in spoken)


def _shorten(text: str, limit: int) -> str:
    """Keep whole sentences, or the first words of one that is too long."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    end = max(head.rfind(sign) for sign in (". ", "! ", "? ", "。", "\n"))
    return head[: end + 1].strip() if end > 0 else f"{head.rsplit(maxsplit=1)[0]} …"


def _merge_items(parts: Sequence[PartContent]) -> list[ExtractedItem]:
    """Return each task once, where it came first, with what only a later wording tells."""
    merged: list[ExtractedItem] = []
    places: dict[str, int] = {}
    previous: list[int] = []
    for n, part in enumerate(parts):
        current = []
        for item in part.structured.action_items:
            key = normalise(item.description)
            place = places.get(key)
            if place is None:
                doubles = (
                    p for p in previous if _is_same_task(merged[p], item, parts[n - 1 : n + 1])
                )
                place = next(doubles, None)
            if place is None:
                place = len(merged)
                merged.append(item)
            else:
                merged[place] = _join_items(merged[place], item)
            places.setdefault(key, place)
            current.append(place)
        previous = current
    return merged


def _is_same_task(
    first: ExtractedItem, second: ExtractedItem, neighbours: Sequence[PartContent]
) -> bool:
    """Tell whether both are what the turns that two neighbours share say, in other words.

    What differs may be details, or words of the model's own; not what was said of something else.
    """
    earlier, later = (part.words for part in neighbours)
    one, other = Terms(tokenize(first.description)), Terms(tokenize(second.description))
    return (
        _is_near(one, other)
        and not _differs(first.due_at, second.due_at)
        and not _differ_in_owner(first, second)
        and all(len(t & later.overlap_terms) >= SPOKEN_SHARE * len(t) for t in (one, other))
        and not ((one - other) & earlier.terms and (other - one) & later.terms)
    )


def _differs(first: Hashable | None, second: Hashable | None) -> bool:
    return first is not None and second is not None and first != second


def _differ_in_owner(first: ExtractedItem, second: ExtractedItem) -> bool:
    if "unknown" in (first.owner, second.owner):
        return False
    names = [item.owner_name and build_name_key(item.owner_name) for item in (first, second)]
    return first.owner != second.owner or _differs(*names)


def _may_be_same(first: ExtractedItem, second: ExtractedItem, zone: ZoneInfo) -> bool:
    days = [item.due_at and item.due_at.astimezone(zone).date() for item in (first, second)]
    terms = [_list_telling_terms(item) for item in (first, second)]
    shared = len(terms[0] & terms[1])
    return (
        not _differ_in_owner(first, second)
        and not _differs(*days)
        and shared > 0
        and shared >= TOLD_SHARE * min(map(len, terms))
    )


def _list_telling_terms(item: ExtractedItem) -> Terms:
    return Terms(t for t in tokenize(item.description) if get_term_weight(t) > FUNCTION_WEIGHT)


def _choose_due(first: ExtractedItem, later: ExtractedItem, zone: ZoneInfo) -> datetime | None:
    """Return the time for which an hour was said, of two on one day."""
    dues = [item.due_at for item in (first, later) if item.due_at]
    hourless = (EVENING, DAY_END)
    return min(dues, key=lambda due: due.astimezone(zone).time() in hourless, default=None)


def _is_near(one: Terms, other: Terms) -> bool:
    shorter = min(len(one), len(other))
    return shorter > 0 and len(one & other) >= SAME_SHARE * shorter


def _join_items(first: ExtractedItem, later: ExtractedItem) -> ExtractedItem:
    owned = later if first.owner == "unknown" else first
    return replace(
        max(first, later, key=lambda item: len(Terms(tokenize(item.description)))),
        due_at=first.due_at or later.due_at,
        owner=owned.owner,
        owner_name=owned.owner_name or first.owner_name,
    )


def _merge_events(parts: Sequence[PartContent]) -> list[Event]:
    """Return each event once: at the same time and with the same name, in whatever words."""
    merged: list[Event] = []
    for event in (event for part in parts for event in part.structured.events):
        if not any(_is_same_event(known, event) for known in merged):
            merged.append(event)
    return merged


def _is_same_event(first: Event, second: Event) -> bool:
    if first.start != second.start:
        return False
    titles = Terms(tokenize(first.title)), Terms(tokenize(second.title))
    return normalise(first.title) == normalise(second.title) or _is_near(*titles)


def _has_same_proof(one: MemoryOutput, other: MemoryOutput, lines: Sequence[Line]) -> bool:
    """Tell whether two facts of one category rest on the same words."""
    if (one.segment, one.category) != (other.segment, other.category):
        return False
    if not 0 <= one.segment < len(lines):
        return False
    if one.evidence == other.evidence:  # which may go on in a later turn
        return True
    text: str = lines[one.segment]["text"]
    starts = text.find(one.evidence), text.find(other.evidence)
    ends = starts[0] + len(one.evidence), starts[1] + len(other.evidence)
    return min(starts) >= 0 and max(starts) < min(ends)


def _merge_names(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for name in (name for part in parts for name in part):
        names.setdefault(normalise(name), name)
        counts[normalise(name)] += 1
    most_common = {key for key, _ in counts.most_common(MAX_MERGED_LENGTH)}
    return tuple(name for key, name in names.items() if key in most_common)


def _list_terms(lines: Iterable[Line]) -> Terms:
    return Terms(term for line in lines for term in tokenize(line["text"]))
