"""Questions in the developer API: one search of the conversations, and one model call that answers from what was found.

Also called: question answering.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from functions.library.programs.key_access import KeyOwner, authorize_developer_key
from shared import prompts
from shared.data.search.search import FoundConversation
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.wall_clock import write_wall_clock
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Utc
from shared.library.count_model_usage import count_model_usage
from shared.library.deps import LibraryDeps
from shared.library.user_model import load_model
from shared.models.data_room import fit_prompt
from shared.reading.own_words import answer_own_words
from shared.retrieval.packing import pack
from shared.security.link_filter import extract_urls, filter_links
from shared.security.visible_text import strip_invisible

NOTHING_FOUND = "I couldn't find anything about that in your conversations."
PROMPT = "process_conversation/answer"
ANSWER_TOKENS = 1_000
MAX_PASSAGE_TOKENS = 4_000


class QuestionIn(Wire):
    """A question, and from how many conversations at most it is answered."""

    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)
    ]
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class SourceOut(Wire):
    id: str
    title: str
    created_at: Utc

    @classmethod
    def of(cls, conversation: Conversation) -> Self:
        title, created_at = conversation.structured.title, conversation.created_at
        return cls(id=conversation.id, title=title, created_at=created_at)


class AnswerOut(Wire):
    """An answer; [1] in it is the first of the sources, which are those it was written from."""

    answer: str
    sources: list[SourceOut]


class AnswerOutput(BaseModel):
    """What a model writes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    answer: str


@route(
    "POST",
    "/v1/dev/user/ask",
    "Answer a question from the owner's conversations, by a developer key",
    access="anyone",
    authorize=authorize_developer_key("conversations:read"),
    errors=(401, 403, 429, 503),
)
async def ask(deps: LibraryDeps, call: Call[QuestionIn, None, KeyOwner]) -> AnswerOut:
    """Ask no model for an answer where nothing was found; who may be in danger reads whom to call."""
    uid, body, now = call.caller.uid, call.body, deps.clock.now()
    found = await deps.search.search_conversations(uid, body.question, limit=body.limit)

    async def write() -> str:
        if not found:
            return NOTHING_FOUND
        data = await _build_data(deps, uid, body.question, found, now)
        return _clean(await _write_answer(deps, uid, data), found)

    async with count_model_usage(deps.quotas, deps.clock, uid):
        answer = await answer_own_words(deps, uid, body.question, place="programs", write=write)
    sources = [] if answer.is_plan else [SourceOut.of(each.conversation) for each in found]
    return AnswerOut(answer=answer.text, sources=sources)


async def _build_data(
    deps: LibraryDeps, uid: UserId, question: str, found: Sequence[FoundConversation], now: datetime
) -> Mapping[str, Any]:
    zone = (await deps.stores.profiles.get(uid)).zone
    transcripts = [(each.conversation.named_segments, each.turns) for each in found]
    packed = pack(transcripts, tokens=MAX_PASSAGE_TOKENS)
    return {
        "question": question,
        "now": write_wall_clock(now, zone),
        "conversations": [
            {
                "number": n,
                "started_at": write_wall_clock(each.conversation.started_at, zone),
                "title": each.conversation.structured.title,
                "overview": each.conversation.structured.overview,
                "passages": [passage.text for passage in passages],
            }
            for n, (each, passages) in enumerate(zip(found, packed, strict=True), start=1)
        ],
    }


async def _write_answer(deps: LibraryDeps, uid: UserId, data: Mapping[str, Any]) -> str:
    """Raises Unavailable where no model writes one."""
    model = await load_model(deps, uid)
    prompt = prompts.build_prompt(
        PROMPT,
        data,
        answer_tokens=ANSWER_TOKENS,
    )
    try:
        fitted = fit_prompt(model, "standard", prompt)
        return (await model.complete_structured("standard", fitted, AnswerOutput)).answer
    except ModelFailed as error:
        raise Unavailable("The language model gave no usable answer.") from error


def _clean(answer: str, found: Sequence[FoundConversation]) -> str:
    """Leave out numbers of no source, and links to what nobody said."""
    texts = (s.text for each in found for s in each.conversation.transcript_segments)
    said_urls = {url for text in texts for url in extract_urls(text)}
    linked = filter_links(strip_invisible(answer), said_urls)
    return re.sub(r"\s?\[(\d+)\]", lambda n: n[0] if 1 <= int(n[1]) <= len(found) else "", linked)


ROUTES = (ask,)
