"""Prepared turn: an accepted question with all that its answer needs."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from functions.chat.commands.command import Command
from functions.chat.context.context import Context
from functions.chat.context.prompt import RulesForm
from functions.chat.loop.model_input import FitToWindow
from functions.chat.loop.tool_policy import ToolPolicy
from functions.chat.runs.turn_slots import HeldSlot
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.toolkit import Tool
from functions.chat.turn.model_choice import ModelReason
from shared.domain.chats.chat import Fork, Message, Session
from shared.domain.chats.confirmation import Confirmation
from shared.domain.ids import BranchId, EmbedId, RunId, UserId
from shared.domain.models.model import ModelRole
from shared.domain.value import value
from shared.reading.crisis_rules import CrisisFinding

UTC = ZoneInfo("UTC")
HEAD_START = 5
"""Turns of the event loop; a request is sent in three, in each of which all that goes on beside it would take a step."""


@value
class Voice:
    """A model that answers a question, and what it is given.

    `fit` fits that to another window, which turns out while it is asked.
    """

    role: ModelRole
    context: Context
    tools: Sequence[Tool]
    tool_policy: ToolPolicy
    fit: FitToWindow
    rules_form: RulesForm = "whole"


@value
class PreparedTurn:
    """An accepted question with everything its answer needs.

    `voices` are the models that answer at once; the answer of the first is the main one. `model_reason` is why it is that one.
    With `masks_private_data` they read placeholders for what is private of their owner. With
    `summarises_results` what tools found is kept for that. `find_full_window` returns a window, in tokens, in which its older messages have to be summarised.
    `finding` is what rules and examples found in the question, which the messages in `earlier` precede. A model
    reads it where it `is_read`; where it `is_doubted`, before a word goes out.
    `language` is that of our own texts in the answer, None for English.
    `command` is what the question is where it is for no model, and `zone` the owner's time zone.
    `fork` begins the branch of another version; the question of an answer that is asked again is
    stored already. `missing_embeds` are results of earlier answers that are not here any more. `decided` is the call that the answer before asked about, where the question is its owner's reply.
    """

    uid: UserId
    run_id: RunId
    accepted_at: datetime
    session: Session
    branch: BranchId
    question: Message
    voices: Sequence[Voice]
    output_gate: OutputGate
    can_confirm: bool
    slot: HeldSlot
    finding: CrisisFinding = CrisisFinding()
    earlier: Sequence[str] = ()
    is_read: bool = False
    is_doubted: bool = False
    language: str | None = None
    fingerprint: str = ""
    fork: Fork | None = None
    decided: Confirmation | None = None
    command: Command | None = None
    zone: ZoneInfo = UTC
    masks_private_data: bool = True
    summarises_results: bool = False
    find_full_window: Callable[[], int | None] = lambda: None
    model_reason: ModelReason = "usual"
    missing_embeds: tuple[EmbedId, ...] = ()

    @property
    def context(self) -> Context:
        """The context of the main answer."""
        return self.voices[0].context

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools of the main answer."""
        return self.voices[0].tools

    async def let_model_be_asked(self) -> None:
        """Return once the request of the answer had its head start; at once where its words wait for a reading."""
        if self.is_read and not self.is_doubted:
            for _ in range(HEAD_START):
                await asyncio.sleep(0)
