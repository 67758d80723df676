"""Schemas of lists of conversations: the filters of a page, and a search with its page of hits."""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Self

from pydantic import Field
from typing_extensions import TypedDict

from functions.library.conversations.snippets import Piece, cut_snippet
from functions.library.date_filters import FirstMoment, LastMoment
from shared.data.conversations.conversation_key import LISTED_STATUSES, ConversationFilter
from shared.data.search.search import Filters, FoundConversation
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.ids import FolderId
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    ConversationOut,
    EmptyAsNone,
    Label,
    Time,
)

MAX_LISTED = 1_000
MAX_SNIPPETS = 2


class ConversationListQuery(PageQuery):
    """A page by offset, as the released app asks, or by cursor; what is empty filters nothing.

    `statuses` are separated by commas; empty, they are processing and completed. `in_progress` alone is what is
    being recorded, whatever else filters. `discarded` lists the discarded ones alone, or none of them. Days are
    included, over `created_at`, in UTC where they have no zone. Without `include_transcript`, transcripts and
    photos are left out.
    """

    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 100
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    statuses: Annotated[str, Field(max_length=200)] = ""
    include_discarded: bool = False
    discarded: Annotated[bool | None, EmptyAsNone] = None
    starred: Annotated[bool | None, EmptyAsNone] = None
    folder_id: Annotated[Label | None, EmptyAsNone] = None
    start_date: FirstMoment = None
    end_date: LastMoment = None
    include_transcript: bool = True

    @property
    def asks_for_live(self) -> bool:
        return self.statuses == "in_progress"

    def to_filter(self, folder_ids: Collection[FolderId] | None) -> ConversationFilter:
        """`folder_ids` are those that `folder_id` stands for."""
        return ConversationFilter(
            statuses=self.statuses.split(",") if self.statuses else LISTED_STATUSES,
            discarded=None
            if self.include_discarded and self.discarded is None
            else bool(self.discarded),
            starred=self.starred,
            folder_ids=folder_ids,
            start=self.start_date,
            end=self.end_date,
        )


Name = Annotated[str, Field(min_length=1, max_length=100)]


class ConversationSearchIn(Wire):
    """Conversations from `start_date` to before `end_date` that match the query; an empty one lists all.

    A match has any of the `people`, as a speaker or by mention, and any of the `topics`. Discarded
    conversations are never found by words. Transcripts and photos come only where `include_transcript`
    asks for them.
    """

    query: Annotated[str, Field(max_length=1_000)]
    page: Annotated[int, Field(ge=1, le=10_000)] = 1
    per_page: Annotated[int, Field(ge=1, le=100)] = 10
    include_discarded: bool = False
    start_date: Time | None = None
    end_date: Time | None = None
    people: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    topics: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    include_transcript: bool = False

    def to_filters(self) -> Filters:
        return Filters(
            start=self.start_date, end=self.end_date, people=self.people, topics=self.topics
        )


# Passages, pieces and snippets are dictionaries, because a page of hits has hundreds of them.


class PassageOut(TypedDict):
    first_segment: int
    last_segment: int
    text: str


class PieceOut(TypedDict):
    """A part of a snippet; `is_match` where it is a word that was searched for, in any form."""

    text: str
    is_match: bool


class SnippetOut(TypedDict):
    """What was found, cut around the match: of a turn, or of the overview, which has no segment."""

    segment: int | None
    speaker_id: int | None
    speaker_name: str | None
    is_user: bool
    pieces: list[PieceOut]


class HitOut(ConversationOut):
    """A conversation with its best passages and snippets, best first; without a query it has none."""

    score: float | None
    passages: list[PassageOut]
    snippets: list[SnippetOut]

    @classmethod
    def of_listed(cls, conversation: Conversation) -> Self:
        return cls.of(conversation, score=None, passages=[], snippets=[])

    @classmethod
    def of_hit(
        cls,
        hit: FoundConversation,
        conversation: Conversation,
        *,
        terms: frozenset[str],
        with_texts: bool,
    ) -> Self:
        """`conversation` is that of the hit, with its photos where texts are shown; `terms` are the query's."""
        return cls.of(
            conversation,
            with_texts=with_texts,
            score=hit.score,
            passages=build_passages(hit),
            snippets=build_snippets(hit, terms),
        )


def build_passages(hit: FoundConversation) -> list[PassageOut]:
    return [
        PassageOut(first_segment=each.first_segment, last_segment=each.last_segment, text=each.text)
        for each in hit.passages
    ]


def build_snippets(hit: FoundConversation, terms: frozenset[str]) -> list[SnippetOut]:
    """Cut the best turns around what was searched for; the overview where only that has it."""
    best_turns = sorted(hit.turns, key=lambda turn: (-hit.turns[turn], turn))[:MAX_SNIPPETS]
    if snippets := list(_cut_turns(hit.conversation, best_turns, terms)):
        return snippets
    overview = cut_snippet(hit.conversation.structured.overview, terms)
    return [_to_snippet(overview)] if overview else []


def _cut_turns(
    conversation: Conversation, turns: Sequence[int], terms: frozenset[str]
) -> Iterator[SnippetOut]:
    numbers = conversation.speaker_numbers
    for turn, named in zip(turns, conversation.name_segments(turns), strict=True):
        if pieces := cut_snippet(named.text, terms):
            yield _to_snippet(
                pieces,
                segment=turn,
                speaker_id=numbers[conversation.transcript_segments[turn].speaker],
                speaker_name=named.speaker if is_name(named.speaker) else None,
                is_user=named.is_user,
            )


def _to_snippet(
    pieces: Sequence[Piece],
    *,
    segment: int | None = None,
    speaker_id: int | None = None,
    speaker_name: str | None = None,
    is_user: bool = False,
) -> SnippetOut:
    return SnippetOut(
        segment=segment,
        speaker_id=speaker_id,
        speaker_name=speaker_name,
        is_user=is_user,
        pieces=[PieceOut(text=piece.text, is_match=piece.is_match) for piece in pieces],
    )


class ConversationHitsOut(Wire):
    """A page of hits, best first, each conversation once; without a query the newest first.

    `fallback_without_filters`: nothing matched people and topics, so they were ignored.
    """

    items: list[HitOut]
    current_page: int
    total_pages: int
    fallback_without_filters: bool = False
