"""What a run's events amount to: the message that is stored as its answer."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from functions.chat.context.citations import cite
from shared.domain.chat import Message
from shared.domain.ids import MessageId
from shared.domain.run import CitationShown, Outcome, Run, RunEvent, Said, ToolEnded


def message_of(run: Run, told: Sequence[RunEvent], outcome: Outcome, now: datetime) -> Message:
    """Return the answer exactly as it was told, whoever stores it."""
    shown = [event.card for event in told if isinstance(event, CitationShown)]
    cited = cite(text_of(told), shown)
    stopped = {"stop_reason": "user_cancelled"} if outcome == "stopped" else {}
    return Message(
        id=MessageId(run.id),
        session_id=run.session_id,
        text=cited.text,
        marked_text=cited.marked_text,
        sender="ai",
        created_at=max(now, run.created_at + timedelta(milliseconds=1)),
        app_id=run.app_id,
        memories_id=tuple(card.id for card in cited.cards),
        cards=cited.cards,
        metadata={"model": run.model, "outcome": outcome, **_sources(told), **stopped},
    )


def _sources(told: Sequence[RunEvent]) -> dict[str, list[dict[str, str]]]:
    """Say whose words an answer rests on: whoever reads it later weighs it by that."""
    found = dict.fromkeys(e.source for e in told if isinstance(e, ToolEnded) and e.source)
    return {"sources": [asdict(source) for source in found]} if found else {}


def text_of(told: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in told if isinstance(event, Said))
