"""Message assembly: the stored answer, built from the events of its run."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from functions.chat.context.citations import strip_markers
from functions.chat.runs.journal import join_text
from shared.data.library_changes import METADATA_FIELD, dump_changes
from shared.domain.chat import Message
from shared.domain.ids import MessageId
from shared.domain.run import (
    CitationShown,
    ConfirmationRequested,
    LibraryChanged,
    Outcome,
    Run,
    RunEvent,
    ToolEnded,
)

QUESTION_KEY = "question"
"""Metadata of an answer that ends with a question: the id of its confirmation."""


def build_message(run: Run, events: Sequence[RunEvent], outcome: Outcome, now: datetime) -> Message:
    """Return the answer exactly as it was streamed, whichever process stores it."""
    shown_cards = [event.card for event in events if isinstance(event, CitationShown)]
    cited_text = strip_markers(join_text(events), shown_cards)
    stop_metadata = {"stop_reason": "user_cancelled"} if outcome == "stopped" else {}
    return Message(
        id=MessageId(run.id),
        session_id=run.session_id,
        text=cited_text.text,
        marked_text=cited_text.marked_text,
        sender="ai",
        created_at=max(now, run.created_at + timedelta(milliseconds=1)),
        app_id=run.app_id,
        memories_id=tuple(card.id for card in cited_text.cards),
        cards=cited_text.cards,
        metadata={
            "model": run.model,
            "outcome": outcome,
            **_collect_sources(events),
            **_find_question(events),
            **_collect_changes(events),
            **stop_metadata,
        },
    )


def _collect_sources(events: Sequence[RunEvent]) -> dict[str, list[dict[str, str]]]:
    """List whose words an answer rests on, for the tool policy of later turns."""
    sources = dict.fromkeys(e.source for e in events if isinstance(e, ToolEnded) and e.source)
    return {"sources": [asdict(source) for source in sources]} if sources else {}


def _find_question(events: Sequence[RunEvent]) -> dict[str, str]:
    """Name the question with which the answer ends and that the owner's next message answers."""
    requests = (event.confirmation for event in events if isinstance(event, ConfirmationRequested))
    question = next((request for request in requests if request.channel == "reply"), None)
    return {QUESTION_KEY: question.id} if question is not None else {}


def _collect_changes(events: Sequence[RunEvent]) -> dict[str, list[dict[str, Any]]]:
    """List what the answer changed in the library, so that it can be undone."""
    changes = [event.change for event in events if isinstance(event, LibraryChanged)]
    return {METADATA_FIELD: dump_changes(changes)} if changes else {}
