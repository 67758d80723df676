"""Confirmation of tool calls: the owner is asked whether a call may run, with a time limit.

Also called: human in the loop, tool approval.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, Protocol

import anyio

from functions.chat import user_texts
from functions.chat.consent.call_words import (
    PEOPLE,
    CallWords,
    Item,
    Reader,
    list_arguments,
    to_plain_text,
    word_own_call,
    word_time,
)
from functions.chat.consent.returned_items import find_item, get_name
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import Tool
from shared.data.chats.confirmations import Confirmations
from shared.domain.chats.confirmation import (
    CONFIRMATION_TIMEOUT,
    Confirmation,
    ConfirmationReason,
    Decision,
    WaitingCall,
)
from shared.domain.errors import KeepsakeError
from shared.domain.ids import RunId, UserId
from shared.domain.value import value
from shared.languages import translate
from shared.ports import Clock, NewId
from shared.resilience.retry import retry
from shared.security.visible_text import strip_invisible

POLL_S = 0.5
SLOW_POLL_S = 2.0
"""Once the owner has not decided within SLOW_AFTER: most do at once."""
SLOW_AFTER = timedelta(seconds=30)
STORE_TIMEOUT_S = 2.5
MAX_ARGUMENTS_CHARS = 20_000
"""Maximum that the owner is asked about; nobody reads more before they confirm."""
MAX_QUESTIONS = 3
"""Maximum of questions in one turn."""
MAX_NAME_CHARS = 100
REASONS = {
    "sensitive": "This kind of call asks each time.",
    "first_use": "It has not been allowed yet.",
    "new_tool": "The app added this tool after you installed it.",
    "changed_tool": "The app changed this tool after you allowed it.",
    "disclosure": "It would tell its maker more than you wrote in this message.",
    "private_text": "It contains a number or a secret that you did not write in this message.",
    "foreign_words": "It would write what you did not say yourself in this chat.",
}


@value
class AskedCall:
    """A call about which its owner is asked, in which words, and the calls that come after it."""

    tool: Tool
    call: ParsedCall
    reason: ConfirmationReason
    words: CallWords
    waiting: Sequence[ParsedCall] = ()


class Confirmer(Protocol):
    """Asks the owner about calls of one turn, at most `max_questions` times."""

    @property
    def max_questions(self) -> int: ...

    async def request(self, asked: AskedCall) -> Confirmation | None:
        """Return the stored question; None where the owner cannot be asked."""

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision | None:
        """Return the decision of the owner, or `expired`; None: it comes with their next message."""


@value
class QuestionStore:
    """Stores the questions of one run, so that any process can receive the decision."""

    confirmations: Confirmations
    clock: Clock
    new_id: NewId
    uid: UserId
    run_id: RunId

    async def add(
        self, asked: AskedCall, *, channel: Literal["button", "reply"], time_left: timedelta
    ) -> Confirmation | None:
        tool, call = asked.tool, asked.call
        if time_left <= timedelta() or len(call.request.arguments) > MAX_ARGUMENTS_CHARS:
            return None
        now = self.clock.now()
        arguments = call.arguments or {}
        confirmation = Confirmation(
            id=self.new_id(),
            call_id=call.id,
            tool=tool.name,
            model_name=tool.spec.name,
            pin=tool.pin,
            source=tool.source,
            maker=tool.maker,
            arguments=_format_arguments(arguments),
            reason=asked.reason,
            allows_always=tool.allows_always and not tool.is_sensitive(arguments),
            asked_at=now,
            expires_at=now + time_left,
            channel=channel,
            question=asked.words.question,
            details=tuple(asked.words.details),
            waiting=tuple(
                WaitingCall(call_id=c.id, model_name=c.name, arguments=c.request.arguments)
                for c in asked.waiting
            ),
        )
        try:
            await retry(
                lambda: self.confirmations.add(self.uid, self.run_id, confirmation),
                sleep=self.clock.sleep,
            )
        except KeepsakeError:
            return None
        return confirmation


class SilentConfirmer:
    """Asks nothing: several models would ask about each call, and an incognito chat would store it."""

    max_questions = MAX_QUESTIONS

    async def request(self, asked: AskedCall) -> Confirmation | None:
        return None

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision | None:
        return None


class ReplyConfirmer:
    """Asks at the end of the answer; the owner's next message decides. One question at a time."""

    max_questions = 1

    def __init__(self, questions: QuestionStore) -> None:
        self._questions = questions

    async def request(self, asked: AskedCall) -> Confirmation | None:
        return await self._questions.add(asked, channel="reply", time_left=CONFIRMATION_TIMEOUT)

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision | None:
        return None


class ButtonConfirmer:
    """Asks while the answer waits.

    `pause_deadline` is entered while it waits. All questions of a turn share CONFIRMATION_TIMEOUT;
    after an expired one, the turn asks no more.
    """

    max_questions = MAX_QUESTIONS

    def __init__(
        self,
        questions: QuestionStore,
        pause_deadline: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._questions = questions
        self._clock = questions.clock
        self._pause_deadline = pause_deadline
        self._time_left = CONFIRMATION_TIMEOUT

    async def request(self, asked: AskedCall) -> Confirmation | None:
        return await self._questions.add(
            replace(asked, waiting=()), channel="button", time_left=self._time_left
        )

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision:
        started_at = self._clock.now()
        async with self._pause_deadline():
            decision = await self._poll_decision(confirmation)
        waiting_time = self._clock.now() - started_at
        self._time_left = timedelta() if decision == "expired" else self._time_left - waiting_time
        return decision

    async def _poll_decision(self, confirmation: Confirmation) -> Decision:
        questions = self._questions
        while self._clock.now() < confirmation.expires_at:
            is_recent = self._clock.now() < confirmation.asked_at + SLOW_AFTER
            await self._clock.sleep(POLL_S if is_recent else SLOW_POLL_S)
            with suppress(KeepsakeError), anyio.move_on_after(STORE_TIMEOUT_S):
                current = await questions.confirmations.get(
                    questions.uid, questions.run_id, confirmation.id
                )
                if current is None:
                    return "expired"  # deleted with its chat
                if current.decision is not None:
                    return current.decision
        return await self._expire(confirmation)

    async def _expire(self, confirmation: Confirmation) -> Decision:
        """Close the question, unless a decision came first; on failure, the call does not run."""
        questions = self._questions
        with suppress(KeepsakeError), anyio.move_on_after(STORE_TIMEOUT_S):
            current = await questions.confirmations.expire(
                questions.uid, questions.run_id, confirmation.id
            )
            return current.decision or "expired"
        return "expired"


def _format_arguments(arguments: Mapping[str, Any]) -> str:
    """Write arguments as JSON text in which no character is invisible, and every key stands once."""
    visible_text = strip_invisible(json.dumps(arguments, ensure_ascii=False))
    return json.dumps(json.loads(visible_text), ensure_ascii=False)


# --- the question in words


async def word_call(
    tool: Tool, call: ParsedCall, returned: Sequence[str], reader: Reader
) -> CallWords:
    """Word what a call would do; ids stand for what its maker `returned`, or for the owner's own items.

    Raises ToolRefused for an id that stands for nothing of the owner's.
    """
    arguments = call.arguments or {}
    items = {**_find_items(arguments, returned, reader), **await tool.find_items(arguments)}
    if tool.source.kind != "app":
        return word_own_call(tool.name, arguments, items, reader)
    question = translate(
        user_texts.CONFIRM_CALL,
        reader.language,
        tool=to_plain_text(tool.name.replace("_", " "))[:MAX_NAME_CHARS],
        source=to_plain_text(tool.source.name or tool.source.id)[:MAX_NAME_CHARS],
        maker=to_plain_text(tool.maker)[:MAX_NAME_CHARS],
        id=tool.source.id,
    )
    return CallWords(question=question, details=list_arguments(arguments, items, reader))


def _find_items(
    arguments: Mapping[str, Any], returned: Sequence[str], reader: Reader
) -> dict[str, Item]:
    found = {
        argument: find_item(argument, reversed(returned))
        for name, argument in arguments.items()
        if isinstance(argument, str) and name.casefold().endswith("id")
    }
    return {
        item_id: Item(name=get_name(item), details=_describe(item, reader))
        for item_id, item in found.items()
        if item is not None
    }


def _describe(item: Mapping[str, Any], reader: Reader) -> list[str]:
    """Say when an item is and how many people come, which tells it from others of its name."""
    start, people = item.get("start"), item.get("attendees")
    when = [word_time(start, reader)] if isinstance(start, str) and start else []
    names = people.split(",") if isinstance(people, str) else people
    count = len(list(filter(None, names))) if isinstance(names, list) else 0
    return [*when, *([translate(PEOPLE, reader.language, count=count)] if count else [])]


def build_question_text(confirmation: Confirmation, language: str | None = None) -> str:
    """Write the question as the last lines of an answer, each argument on a line of its own."""
    reply = user_texts.REPLY_ALWAYS if confirmation.allows_always else user_texts.REPLY_ONCE
    details = ["```", *confirmation.details, "```"] if confirmation.details else []
    reason = translate(REASONS[confirmation.reason], language)
    return "\n".join([confirmation.question, *details, f"{reason} {translate(reply, language)}"])
