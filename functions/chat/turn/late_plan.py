"""Late plan: what is found about a question after its answer was out joins the stored answer, and is pushed."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import is_late
from shared import telemetry
from shared.domain.account.notification import Notification, NotificationId
from shared.domain.chats.chat import Message
from shared.domain.chats.run import AnswerExtended
from shared.domain.errors import AlreadyExists
from shared.domain.ids import AppId
from shared.languages import choose_language, translate
from shared.safety.crisis_plan import build_plan

SENDER = AppId("keepsake")


async def add_late_plan(
    deps: ChatDeps, turn: PreparedTurn, answer: Message, journal: Journal
) -> None:
    """Add what the verdict wants said to a stored answer, so that what follows it is judged; push a plan.

    Whoever still follows the run reads it at once. The push holds no word of the chat. Raises what the store and
    the queue raise.
    """
    if not is_late(turn, answer):
        return
    verdict = turn.output_gate.verdict
    language = choose_language(verdict.language, turn.language)
    is_plan = verdict.route == "crisis"
    addition = build_plan(verdict, turn.language) if is_plan else turn.output_gate.addition
    text = f"\n\n{addition}"
    changes: dict[str, Any] = {
        "text": answer.text + text,
        "marked_text": None if answer.marked_text is None else answer.marked_text + text,
        "route": verdict.route if is_plan else answer.route,
        "crisis_level": verdict.level,
        "diagnostics": {**answer.diagnostics, "crisis_level": verdict.level},
    }
    await deps.stores.messages.change(turn.uid, answer.id, **changes)
    journal.append(AnswerExtended(replace(answer, **changes), text))
    if is_plan and not turn.session.is_incognito:
        await _push(deps, turn, answer, language)


async def _push(deps: ChatDeps, turn: PreparedTurn, answer: Message, language: str | None) -> None:
    """Let every device of the owner know that there is more to read; a repeat pushes nothing again."""
    notification = Notification(
        id=NotificationId(f"plan-{answer.id}"),
        app_id=SENDER,
        title="Keepsake",
        body=translate(user_texts.ANSWER_HAS_MORE, language),
        created_at=deps.clock.now(),
        data={"navigate_to": f"/chat/{turn.session.app_id or 'omi'}"},
    )
    with suppress(AlreadyExists):
        await deps.stores.inbox.add(turn.uid, notification)
    name = f"{notification.id}-{telemetry.hash_id(turn.uid)}"
    await deps.tasks.create("deliver_notification", name, {"uid": turn.uid, "id": notification.id})
