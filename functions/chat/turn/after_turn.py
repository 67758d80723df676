"""After-turn work: an answer gets notes, older messages a summary, and so may results of tools.

All are derived from the stored messages when an event arrives. The event of the next turn makes up
for a lost one, and a repeated one finds nothing to do.

Also called: background jobs, rolling summary, chat summarization.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence

from functions.chat.context import window
from functions.chat.context.history import pair_answers
from functions.chat.context.model_words import select_model_words
from functions.chat.context.window import HistoryRoom
from functions.chat.deps import AfterTurnDeps
from functions.chat.notes.model_outputs import SummaryOutput
from functions.chat.notes.note_answer import MAX_READ, note_answer
from functions.chat.stretches.schedule_stretch import schedule_stretch
from functions.chat.turn.result_summaries import summarise_results
from shared import prompts, telemetry
from shared.domain.chats.branches import Path, build_shown_path, omit_foreign_summary
from shared.domain.chats.chat import Message, Session
from shared.domain.errors import ModelFailed
from shared.domain.ids import MessageId, SessionId, UserId
from shared.domain.models.model import Prompt
from shared.domain.provenance import join_kinds
from shared.library.user_model import load_model
from shared.models.windows import compute_data_tokens, count_data_tokens, cut_texts
from shared.security.visible_text import strip_invisible

MAX_PART = 20
"""Messages that one call adds to a summary."""
MAX_SUMMARY_PARAGRAPHS = 3
MAX_SUMMARY_CHARS = 4_000
SUMMARY_PROMPT = "chat/summary"
ANSWER_TOKENS = 2_000
"""Some 350 words, also in scripts of which each sign is a token or more."""
MAX_NAMED_FILES = 50
"""Of files whose messages a summary covers the latest are named to the model."""
MAX_MESSAGE_CHARS = 8_000
"""Maximum that a summary reads of one message."""


async def after_turn(
    deps: AfterTurnDeps,
    uid: UserId,
    session_id: SessionId,
    answer_id: MessageId,
    summarise_for: int | None = None,
) -> None:
    """Note what follows from an answer, and summarise its chat's older messages for a window of so many tokens.

    Raises Unavailable when a retry may help. Where the model fails, the next turn tries again.
    """
    session = await deps.stores.sessions.get(uid, session_id)
    if session is None:
        return
    path = build_shown_path(session.forks)
    newest_first, profile = await asyncio.gather(
        deps.stores.messages.list_newest(uid, session_id, limit=MAX_READ, path=path),
        deps.stores.profiles.get(uid),
    )
    await note_answer(deps, uid, session, profile, answer_id, newest_first)
    await schedule_stretch(deps.tasks, uid, session_id, session.updated_at)
    await summarise_results(deps, uid, profile, newest_first)
    if summarise_for is not None:
        await _summarise_history(deps, uid, session, path, window.compute_room(summarise_for))


async def _summarise_history(
    deps: AfterTurnDeps, uid: UserId, session: Session, path: Path, room: HistoryRoom
) -> None:
    """Summarise batch after batch, until none is due; of several versions, what is shown."""
    current: Session | None = session
    while current is not None:
        until = omit_foreign_summary(current, path).summarised_until
        unsummarised = await deps.stores.messages.list_after(
            uid, current.id, until, limit=room.max_verbatim + 1, path=path
        )
        due = window.select_for_summary(unsummarised, room)
        if not due:
            return
        for first in range(0, len(due), MAX_PART):
            part = due[first : first + MAX_PART]
            current = await _summarise_batch(deps, uid, current, path, part)
            if current is None:
                return


async def _summarise_batch(
    deps: AfterTurnDeps, uid: UserId, session: Session, path: Path, batch: Sequence[Message]
) -> Session | None:
    """Store a summary that includes `batch`, which ends on `path`.

    Return None when the model gives none, or when another process was first.
    """
    model = await load_model(deps, uid, chat=session.id, urgency="soon")
    earlier = omit_foreign_summary(session, path)
    prompt = _build_prompt(earlier.summary, batch, model.describe("reader").window_tokens)
    try:
        output = await model.complete_structured("reader", prompt, SummaryOutput)
    except ModelFailed:
        telemetry.add_fields(outcome="not_summarised")
        return None
    summary = trim_summary(output.summary)
    if not summary:
        return None
    last = batch[-1]
    files = [*earlier.summarised_files, *(file.id for message in batch for file in message.files)]
    return await deps.stores.sessions.update_derived(
        uid,
        session,
        source=last,
        summary=summary,
        summary_kinds=join_kinds(earlier.summarised_kinds, *(m.text_kinds for m in batch)),
        summarised_until=last.position,
        summarised_branch=path.find_branch(last.position),
        summarised_files=tuple(dict.fromkeys(files))[-MAX_NAMED_FILES:],
    )


def _build_prompt(summary: str, batch: Sequence[Message], window_tokens: int) -> Prompt:
    """Build the prompt so that it fits: the longest texts are cut, those of all messages are read."""
    instructions = prompts.render(SUMMARY_PROMPT)
    rows = [row for row in map(_to_prompt_message, pair_answers(batch)) if row["text"]]
    frames = [{**row, "text": ""} for row in rows]
    room = compute_data_tokens(window_tokens, instructions, ANSWER_TOKENS)
    left = room - count_data_tokens({"summary": "", "messages": frames})
    earlier, *texts = cut_texts([summary, *(row["text"] for row in rows)], left)
    messages = [{**row, "text": text} for row, text in zip(rows, texts, strict=True)]
    return prompts.build_prompt(
        SUMMARY_PROMPT,
        {"summary": earlier, "messages": messages},
        answer_tokens=ANSWER_TOKENS,
    )


def _to_prompt_message(message: Message) -> Mapping[str, str]:
    author = "owner" if message.sender == "human" else "assistant"
    speaker = "app" if message.from_integration else author
    if message.is_imported:
        speaker = f"{speaker}, as an imported file says"
    return {"sender": speaker, "text": select_model_words(message)[:MAX_MESSAGE_CHARS]}


def trim_summary(text: str) -> str:
    """Fit a summary to its limits."""
    paragraphs = re.split(r"\n\s*\n", strip_invisible(text).strip())
    return "\n\n".join(paragraphs[:MAX_SUMMARY_PARAGRAPHS])[:MAX_SUMMARY_CHARS].strip()
