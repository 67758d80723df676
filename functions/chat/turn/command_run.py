"""Command run: the answer of a command goes into the journal, in the place of a model's."""

from collections.abc import Iterator

import anyio

from functions.chat import user_texts
from functions.chat.commands.answer_command import answer_command
from functions.chat.commands.command import Command
from functions.chat.commands.command_turn import CommandReply, CommandTurn
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.prepared_turn import PreparedTurn
from shared import telemetry
from shared.domain.chats.run import (
    CitationShown,
    ConfirmationRequested,
    LibraryChanged,
    MemoriesListed,
    Outcome,
    OwnText,
    RouteChosen,
    RunEvent,
    Stage,
)
from shared.languages import translate


class CommandRun:
    """Runs a command once its question is stored, and is no cry for help."""

    def __init__(
        self, deps: ChatDeps, turn: PreparedTurn, command: Command, active_run: ActiveRun
    ) -> None:
        self.journal = VoiceJournal(active_run.journal)
        self._deps = deps
        self._turn = turn
        self._command = command

    async def run(self) -> Outcome:
        """Return how it ended; a failure becomes a notice."""
        try:
            with anyio.fail_after(self._deps.limits.deadline_s):
                await self._turn.output_gate.wait_released()
                reply = await self._answer()
                await self._turn.output_gate.wait_read()
        except Exception:  # noqa: BLE001 - after the first byte nothing raises
            telemetry.error("command_failed")
            self.journal.append_notice(translate(user_texts.INTERNAL_ERROR, self._turn.language))
            return "failed"
        for event in self._list_events(reply):
            self.journal.append(event)
        if self._turn.output_gate.addition:
            self.journal.append_notice(self._turn.output_gate.addition)
        self.journal.append(Stage("response_ready"))
        return "completed"

    async def _answer(self) -> CommandReply:
        turn = self._turn
        place = CommandTurn(
            deps=self._deps,
            uid=turn.uid,
            run_id=turn.run_id,
            zone=turn.zone,
            language=turn.language,
            may_write=not turn.session.is_private,
        )
        return await answer_command(place, self._command)

    def _list_events(self, reply: CommandReply) -> Iterator[RunEvent]:
        yield RouteChosen("command", self._turn.output_gate.verdict.level)
        yield Stage("answering")
        if reply.card is not None:
            yield CitationShown(number=1, card=reply.card)
        yield OwnText(reply.text)
        if reply.listed:
            yield MemoriesListed(items=tuple(reply.listed), is_choice=reply.is_choice)
        if reply.change is not None:
            yield LibraryChanged(reply.change)
            if not self._turn.can_confirm:
                yield OwnText(f"\n\n{translate(user_texts.REPLY_UNDO, self._turn.language)}")
        if reply.confirmation is not None:
            yield ConfirmationRequested(reply.confirmation)
