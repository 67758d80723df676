"""Danger in an owner's own words that reach a model outside a chat's turn: judged, logged, and answered by the plan."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from shared import telemetry
from shared.data.account.quotas import Quotas
from shared.data.chats.crisis_log import CrisisLog
from shared.data.stores import Stores
from shared.domain.chats.crisis import (
    LOCAL_READING_S,
    READING_END_S,
    CrisisDeed,
    CrisisVerdict,
)
from shared.domain.chats.storage_mode import is_incognito
from shared.domain.errors import QuotaExceeded, Unavailable
from shared.domain.ids import RunId, SessionId, UserId
from shared.domain.value import value
from shared.ports import Clock, NewId
from shared.reading.crisis_verdict import judge_alone
from shared.reading.find_danger import DangerDeps, find_danger
from shared.reading.read_question import judge_text
from shared.safety.crisis_plan import build_addition, build_plan


class PlanDeps(DangerDeps, Protocol):
    """The part of an entry point's dependencies that writing a plan needs."""

    @property
    def clock(self) -> Clock: ...
    @property
    def crisis_log(self) -> CrisisLog: ...
    @property
    def stores(self) -> Stores: ...


class AnswerDeps(PlanDeps, Protocol):
    """The part of an entry point's dependencies that answering needs."""

    @property
    def new_id(self) -> NewId: ...
    @property
    def quotas(self) -> Quotas: ...


@value
class WatchedAnswer:
    """An answer, with what the reading of its question added; one that `is_plan` takes the place of what a model wrote."""

    text: str
    is_plan: bool = False


async def answer_own_words(
    deps: AnswerDeps, uid: UserId, text: str, *, place: str, write: Callable[[], Awaitable[str]]
) -> WatchedAnswer:
    """Read a text beside its answer, as one of the day's turns; in a crisis the plan comes whatever becomes of that.

    `place` says in the crisis log where the words came in. Raises QuotaExceeded, and what `write` raises.
    """
    session_id, run_id = SessionId(place), RunId(deps.new_id())
    finding = await find_danger(deps, uid, text)
    verdict = judge_alone(finding)
    answer: str | Exception = ""
    try:
        await deps.quotas.take(uid, "turns", now=deps.clock.now())
    except QuotaExceeded as refusal:
        answer = refusal
    else:
        if finding.certainty != "certain":
            is_local = deps.model.describe("fast").is_local
            wait_s = LOCAL_READING_S if is_local else READING_END_S
            reading = judge_text(deps, uid, text, finding, wait_s=wait_s)
            verdict, answer = await asyncio.gather(reading, _try(write))
    if plan := await write_plan(deps, uid, session_id, run_id, verdict):
        return WatchedAnswer(text=plan, is_plan=True)
    if isinstance(answer, Exception):
        raise answer
    if verdict.is_clear:
        return WatchedAnswer(text=answer)
    language = await _log(deps, uid, session_id, run_id, verdict, None)
    return WatchedAnswer(text=f"{answer}\n\n{build_addition(verdict, language)}")


async def judge_own_words(
    deps: DangerDeps, uid: UserId, text: str, *, wait_s: float
) -> CrisisVerdict:
    """Judge a text by rules and examples, and by its reading where these do not suffice."""
    finding = await find_danger(deps, uid, text)
    if finding.certainty == "certain":
        return judge_alone(finding)
    return await judge_text(deps, uid, text, finding, wait_s=wait_s)


async def write_plan(
    deps: PlanDeps,
    uid: UserId,
    session_id: SessionId,
    run_id: RunId,
    verdict: CrisisVerdict,
    *,
    missed: CrisisDeed | None = None,
) -> str:
    """Return the plan in a crisis, which is logged once, else nothing; a store that is down hides no plan."""
    if verdict.route != "crisis":
        return ""
    return build_plan(verdict, await _log(deps, uid, session_id, run_id, verdict, missed))


async def _try(write: Callable[[], Awaitable[str]]) -> str | Exception:
    try:
        return await write()
    except Exception as error:  # noqa: BLE001 - raised again, unless there is a plan
        return error


async def _log(
    deps: PlanDeps,
    uid: UserId,
    session_id: SessionId,
    run_id: RunId,
    verdict: CrisisVerdict,
    missed: CrisisDeed | None,
) -> str | None:
    """Log what was not harmless; return the owner's language, None where the store is down."""
    try:
        if verdict.level:
            await deps.crisis_log.record(
                uid,
                session_id,
                run_id,
                verdict,
                now=deps.clock.now(),
                missed=missed,
                names_user=not is_incognito(session_id),
            )
        return (await deps.stores.profiles.get(uid)).language
    except Unavailable:
        telemetry.warning("crisis_not_logged")
        return None
