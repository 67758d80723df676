"""Search of a turn: what is known for its question, found beside the other reads."""

import asyncio
from asyncio import gather
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio

from functions.chat.context.known import (
    NOTHING_KNOWN,
    Excerpt,
    Kinds,
    Known,
    build_query,
    may_concern,
    pack_excerpts,
    says_enough,
    select_known,
)
from functions.chat.deps import ChatDeps
from shared import telemetry
from shared.data.search.question_meaning import QuestionMeaning, read_in_time
from shared.domain.account.profile import Profile
from shared.domain.chats.arc import Arc
from shared.domain.chats.custom_agent import CustomAgent
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory
from shared.domain.provenance import LIBRARY
from shared.domain.value import value

MAX_CONVERSATIONS = 5
MAX_FACTS = 10
WAIT_S = 0.5
"""The answer waits no longer for what may be known once the question is read: its model can still search."""


@value
class _Found:
    excerpts: Sequence[Excerpt]
    facts: Sequence[Memory]
    arc: Arc | None


@value
class KnownSearch:
    """Looks for what is known: what a question is like is read, and it is searched for, beside the first reads.

    Nothing is looked for where the model that answers `is_extractive`: it reads nothing but its own results.
    """

    deps: ChatDeps
    uid: UserId
    question: str
    is_extractive: bool
    reading: "asyncio.Task[QuestionMeaning | None]"
    searching: "asyncio.Task[_Found] | None"

    async def read(self) -> QuestionMeaning | None:
        """Return what the question is like, as `read_in_time` does."""
        return await asyncio.shield(self.reading)

    async def find(self, profile: Profile, earlier: Sequence[str]) -> Known:
        """Return what a model may be given unasked: nothing while memories are paused, or where search is down.

        `earlier` are the owner's messages before the question, the latest first.
        """
        if self.is_extractive or not profile.recalls_memories:
            return NOTHING_KNOWN
        meaning = await self.read()
        kinds = meaning.kinds or None if meaning else None
        with anyio.move_on_after(WAIT_S):
            try:
                known = await self._find(build_query(self.question, earlier, kinds), kinds)
            except Exception as error:  # noqa: BLE001 - as above
                telemetry.warning("nothing_looked_up", error=type(error).__name__)
            else:
                return known if may_tell(known.arc, profile) else replace(known, arc=None)
        telemetry.add_fields(known_search="unavailable")
        return NOTHING_KNOWN

    async def _find(self, query: str, kinds: Kinds | None) -> Known:
        if not may_concern(query, kinds):
            return NOTHING_KNOWN
        if query == self.question and self.searching is not None:
            found = await self.searching
        else:
            found = await _search(self.deps, self.uid, query)
        return select_known(query, kinds, found.excerpts, found.facts, found.arc)


@asynccontextmanager
async def look_for_known(deps: ChatDeps, uid: UserId, question: str) -> AsyncIterator[KnownSearch]:
    """Begin to look; what nobody waited for ends with the context."""
    is_extractive = deps.model.describe("agent").is_extractive
    is_searched = not is_extractive and says_enough(question)
    comparing = asyncio.create_task(deps.meanings.read(uid, question))
    reading = asyncio.create_task(read_in_time(asyncio.shield(comparing), is_alone=is_extractive))
    searching = asyncio.create_task(_search(deps, uid, question)) if is_searched else None
    try:
        yield KnownSearch(
            deps=deps,
            uid=uid,
            question=question,
            is_extractive=is_extractive,
            reading=reading,
            searching=searching,
        )
    finally:
        tasks = [task for task in (comparing, reading, searching) if task]
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)


async def _search(deps: ChatDeps, uid: UserId, query: str) -> _Found:
    hits, facts, arcs = await gather(
        deps.search.search_conversations(uid, query, limit=MAX_CONVERSATIONS),
        deps.search.search_memories(uid, query, limit=MAX_FACTS),
        deps.stores.arcs.list_newest(uid, limit=1),
    )
    excerpts = [Excerpt(conversation=hit.conversation, turns=hit.turns) for hit in hits]
    return _Found(excerpts=pack_excerpts(excerpts), facts=facts, arc=next(iter(arcs), None))


def may_tell(arc: Arc | None, profile: Profile) -> bool:
    """Tell whether an answer may be given what another chat came to: never of a crisis, nor what was forgotten."""
    if arc is None:
        return True
    is_forgotten = profile.has_forgotten(arc.started_at)
    return profile.recalls_chats and not is_forgotten and not arc.crisis_level_max


def leave_out_forbidden(known: Known, agent: CustomAgent | None) -> Known:
    """Return what an agent may read: what it may not search it is not given."""
    if agent is None or known.reason is None:
        return known
    excerpts = known.excerpts if agent.allows(_name_tool("search_conversations")) else ()
    facts = known.facts if agent.allows(_name_tool("search_memories")) else ()
    arc = known.arc if agent.allows(_name_tool("search_chats")) else None
    return Known(excerpts=excerpts, facts=facts, arc=arc, reason=known.reason)


def _name_tool(name: str) -> tuple[str, str]:
    return name, f"{LIBRARY.key}/{name}"
