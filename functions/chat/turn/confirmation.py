"""Confirmation of tool calls: the owner is asked whether a call may run, with a time limit."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import Tool
from shared.data.confirmations import Confirmations
from shared.domain.confirmation import CONFIRMATION_TIMEOUT, Confirmation, Decision
from shared.domain.errors import KeepsakeError
from shared.domain.ids import RunId, UserId
from shared.ports import Clock, NewId
from shared.resilience.retry import retry
from shared.security.visible_text import strip_invisible

if TYPE_CHECKING:
    from shared.domain.policy import Doubt

POLL_S = 0.5
STORE_TIMEOUT_S = 2.5
MAX_ARGUMENTS_CHARS = 20_000
"""Maximum that the owner is asked about; nobody reads more before they confirm."""


class Confirmer(Protocol):
    """Asks the owner about a call while the turn goes on."""

    async def request(self, tool: Tool, call: ParsedCall, doubt: "Doubt") -> Confirmation | None:
        """Return the stored question; None where the owner cannot be asked."""

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision:
        """Return the decision of the owner, or `expired`."""


class NoConfirmer:
    """Confirmer for a client that cannot show questions."""

    async def request(self, tool: Tool, call: ParsedCall, doubt: "Doubt") -> Confirmation | None:
        return None

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision:
        return "expired"


class StoredConfirmer:
    """Asks through documents, so that any process can receive the decision.

    `pause_deadline` is entered while it waits. All questions of a turn share CONFIRMATION_TIMEOUT;
    after an expired one, the turn asks no more.
    """

    def __init__(
        self,
        confirmations: Confirmations,
        clock: Clock,
        new_id: NewId,
        uid: UserId,
        run_id: RunId,
        pause_deadline: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._confirmations = confirmations
        self._clock = clock
        self._new_id = new_id
        self._uid = uid
        self._run_id = run_id
        self._pause_deadline = pause_deadline
        self._time_left = CONFIRMATION_TIMEOUT

    async def request(self, tool: Tool, call: ParsedCall, doubt: "Doubt") -> Confirmation | None:
        if self._time_left <= timedelta() or len(call.request.arguments) > MAX_ARGUMENTS_CHARS:
            return None
        now = self._clock.now()
        confirmation = Confirmation(
            id=self._new_id(),
            call_id=call.id,
            tool=tool.name,
            source=tool.source,
            arguments=_format_arguments(call.arguments or {}),
            reason=doubt.reason,
            argument=doubt.argument,
            asked_at=now,
            expires_at=now + self._time_left,
        )
        try:
            await retry(lambda: self._add(confirmation), sleep=self._clock.sleep)
        except KeepsakeError:
            return None
        return confirmation

    async def _add(self, confirmation: Confirmation) -> None:
        await self._confirmations.add(self._uid, self._run_id, confirmation)

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision:
        started_at = self._clock.now()
        async with self._pause_deadline():
            decision = await self._poll_decision(confirmation)
        waiting_time = self._clock.now() - started_at
        self._time_left = timedelta() if decision == "expired" else self._time_left - waiting_time
        return decision

    async def _poll_decision(self, confirmation: Confirmation) -> Decision:
        while self._clock.now() < confirmation.expires_at:
            await self._clock.sleep(POLL_S)
            with suppress(KeepsakeError), anyio.move_on_after(STORE_TIMEOUT_S):
                current = await self._confirmations.get(self._uid, self._run_id, confirmation.id)
                if current is None:
                    return "expired"  # deleted with its chat
                if current.decision is not None:
                    return current.decision
        return await self._expire(confirmation)

    async def _expire(self, confirmation: Confirmation) -> Decision:
        """Close the question, unless a decision came first; on failure, the call does not run."""
        with suppress(KeepsakeError), anyio.move_on_after(STORE_TIMEOUT_S):
            current = await self._confirmations.expire(self._uid, self._run_id, confirmation.id)
            return current.decision or "expired"
        return "expired"


def _format_arguments(arguments: Mapping[str, Any]) -> str:
    """Write arguments as JSON text in which no character is invisible."""
    return strip_invisible(json.dumps(arguments, ensure_ascii=False))
