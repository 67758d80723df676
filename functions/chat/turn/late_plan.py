"""Late plan: what is found about a question after its answer was out is shown, joins the stored answer, and is pushed."""

from collections.abc import Mapping
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


def extend_answer(turn: PreparedTurn, answer: Message, journal: Journal) -> Mapping[str, Any]:
    """Let whoever still follows the run read what the verdict wants said, and return what changes of the answer.

    Nothing changes where nothing is late. To be stored, so that what follows the answer is judged.
    """
    if not is_late(turn, answer):
        return {}
    verdict = turn.output_gate.verdict
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
    journal.append(AnswerExtended(replace(answer, **changes), text))
    return changes


async def push_plan(deps: ChatDeps, turn: PreparedTurn, answer: Message) -> None:
    """Let every device of the owner know that there is a plan to read; a repeat pushes nothing again.

    The push holds no word of the chat. Raises what the store and the queue raise.
    """
    verdict = turn.output_gate.verdict
    if verdict.route != "crisis" or turn.session.is_incognito:
        return
    language = choose_language(verdict.language, turn.language)
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
