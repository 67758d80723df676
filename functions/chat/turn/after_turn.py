"""After-turn work: an answer gets notes, older messages a summary, and so may results of tools.

All are derived from the stored messages when an event arrives. The event of the next turn makes up
for a lost one, and a repeated one finds nothing to do.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from functions.chat.context import window
from functions.chat.context.budget import compute_budget, cut_text
from functions.chat.deps import AfterTurnDeps
from functions.chat.notes.note_answer import note_answer
from functions.chat.stretches.schedule_stretch import schedule_stretch
from functions.chat.turn.model_outputs import SummaryOutput
from functions.chat.turn.result_summaries import summarise_results
from shared import prompts, telemetry
from shared.domain.branches import Path, build_shown_path, omit_foreign_summary
from shared.domain.chat import Message, Session
from shared.domain.errors import ModelFailed
from shared.domain.ids import MessageId, SessionId, UserId
from shared.domain.model import Prompt
from shared.library.user_model import load_model
from shared.ports import ChatModel
from shared.security.visible_text import strip_invisible

MAX_SUMMARY_PARAGRAPHS = 3
MAX_SUMMARY_CHARS = 4_000
SUMMARY_PROMPT_TOKENS = 2_000
"""Room for the instructions of a summary, and for the summary before it."""
MAX_MESSAGE_CHARS = 8_000
"""Maximum that a summary reads of one message."""


async def after_turn(
    deps: AfterTurnDeps, uid: UserId, session_id: SessionId, answer_id: MessageId
) -> None:
    """Note what follows from an answer, and update the summary of its chat's older messages.

    Raises Unavailable when a retry may help. Where the model fails, the next turn tries again.
    """
    session = await deps.stores.sessions.get(uid, session_id)
    if session is None:
        return
    path = build_shown_path(session.forks)
    newest_first, profile = await asyncio.gather(
        deps.stores.messages.list_newest(uid, session_id, limit=window.MAX_VERBATIM + 1, path=path),
        deps.stores.profiles.get(uid),
    )
    await note_answer(deps, uid, session, profile, answer_id, newest_first)
    await schedule_stretch(deps.tasks, uid, session_id, session.updated_at)
    await summarise_results(deps, uid, profile, newest_first)
    if window.is_summary_due(newest_first, omit_foreign_summary(session, path)):
        await _summarise_history(deps, uid, session, path)


async def _summarise_history(
    deps: AfterTurnDeps, uid: UserId, session: Session, path: Path
) -> None:
    """Summarise batch after batch, until none is due; of several versions, what is shown."""
    current: Session | None = session
    while current is not None:
        until = omit_foreign_summary(current, path).summarised_until
        unsummarised = await deps.stores.messages.list_after(
            uid, current.id, until, limit=window.MAX_VERBATIM + 1, path=path
        )
        batch = window.select_for_summary(unsummarised)
        current = await _summarise_batch(deps, uid, current, path, batch) if batch else None


async def _summarise_batch(
    deps: AfterTurnDeps, uid: UserId, session: Session, path: Path, batch: Sequence[Message]
) -> Session | None:
    """Store a summary that includes `batch`, which ends on `path`.

    Return None when the model gives none, or when another process was first.
    """
    model = await load_model(deps, uid, chat=session.id, urgency="soon")
    data = {
        "summary": omit_foreign_summary(session, path).summary,
        "messages": _to_prompt_messages(batch, _compute_message_tokens(model, len(batch))),
    }
    try:
        output = await model.complete_structured(
            "reader", _build_prompt("summary", data), SummaryOutput
        )
    except ModelFailed:
        telemetry.add_fields(outcome="not_summarised")
        return None
    summary = trim_summary(output.summary)
    if not summary:
        return None
    last = batch[-1]
    return await deps.stores.sessions.update_derived(
        uid,
        session,
        source=last,
        summary=summary,
        summarised_until=last.position,
        summarised_branch=path.find_branch(last.position),
    )


def _compute_message_tokens(model: ChatModel, count: int) -> int:
    """Return how many tokens each of `count` messages may have so that the model reads them all."""
    budget = compute_budget(model.describe("reader").window_tokens, ())
    return (budget - SUMMARY_PROMPT_TOKENS) // count


def _to_prompt_messages(batch: Sequence[Message], max_tokens: int) -> list[Mapping[str, str]]:
    rows = map(_to_prompt_message, batch)
    return [{**row, "text": cut_text(row["text"], max_tokens)} for row in rows]


def _to_prompt_message(message: Message) -> Mapping[str, str]:
    author = "owner" if message.sender == "human" else "assistant"
    speaker = "app" if message.from_integration else author
    if message.is_imported:
        speaker = f"{speaker}, as an imported file says"
    return {"sender": speaker, "text": message.text[:MAX_MESSAGE_CHARS]}


def trim_summary(text: str) -> str:
    """Fit a summary to its limits."""
    paragraphs = re.split(r"\n\s*\n", strip_invisible(text).strip())
    return "\n\n".join(paragraphs[:MAX_SUMMARY_PARAGRAPHS])[:MAX_SUMMARY_CHARS].strip()


def _build_prompt(name: str, data: Mapping[str, Any]) -> Prompt:
    full_name = f"chat/{name}"
    return Prompt(
        name=full_name,
        version=prompts.compute_version(full_name),
        instructions=prompts.render(full_name),
        data=data,
    )
