"""Asks the owner whether a call may run, and waits for their word; within limits."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

import anyio
from pydantic_core import from_json

from functions.chat.tools.toolkit import Tool
from shared.data.confirmations import Confirmations
from shared.domain.attempts import twice
from shared.domain.confirmation import WAIT, Confirmation, Decision
from shared.domain.errors import KeepsakeError
from shared.domain.ids import RunId, UserId
from shared.domain.model import ToolCall
from shared.domain.text import visible
from shared.ports import Clock, NewId

if TYPE_CHECKING:
    from shared.domain.policy import Doubt

POLL_S = 0.5
TIMEOUT_S = 2.5
MAX_ARGUMENTS = 20_000
"""Characters: what is longer nobody reads before they confirm it."""


class Asker(Protocol):
    """How a turn reaches its owner while it goes on."""

    async def ask(self, tool: Tool, call: ToolCall, doubt: "Doubt") -> Confirmation | None:
        """Return the question as it is stored; None where the owner cannot be asked."""

    async def wait(self, asked: Confirmation) -> Decision:
        """Return what the owner decided, or that they did not in time."""


class Nobody:
    """For a client that cannot show a question."""

    async def ask(self, tool: Tool, call: ToolCall, doubt: "Doubt") -> Confirmation | None:
        return None

    async def wait(self, asked: Confirmation) -> Decision:
        return "expired"


class Owner:
    """Asks through documents, so that any process may take the answer.

    `unhurried` is entered while it waits: the turn's deadline grows by that. All questions of a
    turn wait for WAIT together; after one that nobody answered, nobody is asked again.
    """

    def __init__(
        self,
        confirmations: Confirmations,
        clock: Clock,
        new_id: NewId,
        uid: UserId,
        run_id: RunId,
        unhurried: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._confirmations = confirmations
        self._clock = clock
        self._new_id = new_id
        self._uid = uid
        self._run_id = run_id
        self._unhurried = unhurried
        self._left = WAIT

    async def ask(self, tool: Tool, call: ToolCall, doubt: "Doubt") -> Confirmation | None:
        if self._left <= timedelta() or len(call.arguments) > MAX_ARGUMENTS:
            return None
        now = self._clock.now()
        question = Confirmation(
            id=self._new_id(),
            call_id=call.id,
            tool=tool.name,
            source=tool.source,
            arguments=_readable(call.arguments),
            reason=doubt.reason,
            argument=doubt.argument,
            asked_at=now,
            expires_at=now + self._left,
        )
        try:
            await twice(lambda: self._add(question), self._clock.sleep)
        except KeepsakeError:
            return None
        return question

    async def _add(self, question: Confirmation) -> None:
        await self._confirmations.add(self._uid, self._run_id, question)

    async def wait(self, asked: Confirmation) -> Decision:
        begun = self._clock.now()
        with self._unhurried():
            decision = await self._decision(asked)
        spent = self._clock.now() - begun
        self._left = timedelta() if decision == "expired" else self._left - spent
        return decision

    async def _decision(self, asked: Confirmation) -> Decision:
        while self._clock.now() < asked.expires_at:
            await self._clock.sleep(POLL_S)
            with suppress(KeepsakeError), anyio.move_on_after(TIMEOUT_S):
                found = await self._confirmations.get(self._uid, self._run_id, asked.id)
                if found is None:
                    return "expired"  # with its chat
                if found.decision is not None:
                    return found.decision
        return await self._expired(asked)

    async def _expired(self, asked: Confirmation) -> Decision:
        """An answer that came at the last moment counts; what cannot be known does not run."""
        with suppress(KeepsakeError), anyio.move_on_after(TIMEOUT_S):
            closed = await self._confirmations.expire(self._uid, self._run_id, asked.id)
            return closed.decision or "expired"
        return "expired"


def _readable(arguments: str) -> str:
    """Write arguments so that nothing hides in them from whoever reads and confirms them."""
    return visible(json.dumps(from_json(arguments or "{}"), ensure_ascii=False))
