"""Message assembly: the stored answer, built from the events of its run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from functions.chat.context.citations import strip_markers
from functions.chat.context.model_words import select_model_words
from functions.chat.runs.collect_steps import collect_steps
from functions.chat.runs.journal import join_model_text, join_text, list_shown
from shared.data.chats.answer_changes import METADATA_FIELD, dump_changes
from shared.domain.chats.chart import Chart
from shared.domain.chats.chat import LISTED_KEY, QUESTION_KEY, QUESTION_WORDS_KEY, Message
from shared.domain.chats.run import (
    AnswerText,
    ChartShown,
    CitationShown,
    ConfirmationRequested,
    DocumentsGiven,
    EmbedShown,
    FileCited,
    LibraryChanged,
    MemoriesListed,
    Outcome,
    ReasoningText,
    RouteChosen,
    Run,
    RunEvent,
    ToolEnded,
)
from shared.domain.chats.voices import choose_main_voice, select_voice
from shared.domain.ids import MessageId
from shared.domain.provenance import LIBRARY
from shared.domain.value import value


@value
class Answers:
    """The answers of a run: the main one, which the chat shows, and those of its other voices."""

    main: Message
    alternatives: Mapping[int, Message]


def build_answers(
    run: Run, events: Sequence[RunEvent], outcomes: Sequence[Outcome], now: datetime
) -> Answers:
    """Return the answers, given how each voice ended; where the first has no words of its model, another is main."""
    answers = {
        voice: build_message(run, select_voice(events, voice), outcome, now, voice=voice)
        for voice, outcome in enumerate(outcomes)
    }
    has_words = [bool(select_model_words(answer)) for answer in answers.values()]
    main = choose_main_voice(outcomes, has_words)
    return Answers(main=answers.pop(main), alternatives=answers)


def build_message(
    run: Run, events: Sequence[RunEvent], outcome: Outcome, now: datetime, *, voice: int = 0
) -> Message:
    """Return the answer of a voice exactly as it was streamed, whichever process stores it.

    What was withdrawn from it is no part of it.
    """
    events = _join_pieces(events)
    shown = list_shown(events)
    cards = tuple(event.card for event in shown if isinstance(event, CitationShown))
    file_citations = tuple(event.citation for event in shown if isinstance(event, FileCited))
    marked_text, source_count = join_text(events), len(cards) + len(file_citations)
    model_text = join_model_text(events)
    chosen = _find_route(events)
    given = [event for event in events if isinstance(event, DocumentsGiven)]
    stop_metadata = {"stop_reason": "user_cancelled"} if outcome == "stopped" else {}
    return Message(
        id=MessageId(run.id),
        session_id=run.session_id,
        text=strip_markers(marked_text, source_count),
        marked_text=marked_text,
        model_text=None if model_text is None else strip_markers(model_text, source_count).strip(),
        sender="ai",
        created_at=max(now, run.created_at + timedelta(milliseconds=1)),
        branch=run.branch,
        app_id=run.app_id,
        memories_id=tuple(card.id for card in cards),
        cards=cards,
        file_citations=file_citations,
        documents=tuple(document for event in given for document in event.documents),
        last_number=max((event.last_number for event in given), default=0),
        steps=collect_steps(events),
        chart=_find_chart(events),
        embeds=tuple(event.ref for event in events if isinstance(event, EmbedShown)),
        voices=run.voices,
        voice=voice,
        route=chosen.route,
        crisis_level=chosen.crisis_level,
        metadata={
            **({} if chosen.is_ours else {"model": run.voices[voice] if run.voices else run.model}),
            "outcome": outcome,
            **_collect_sources(events),
            **_find_question(events),
            **_find_listed(events),
            **_collect_changes(events),
            **stop_metadata,
        },
    )


def _join_pieces(events: Sequence[RunEvent]) -> list[RunEvent]:
    """Join the pieces of a text that stand side by side: a long answer is a few events, which are looked through often."""
    joined: list[RunEvent] = []
    for kind, group in groupby(events, key=type):
        pieces = list(group)
        texts = [piece.text for piece in pieces if isinstance(piece, AnswerText | ReasoningText)]
        joined += [kind("".join(texts))] if texts else pieces
    return joined


def _collect_sources(events: Sequence[RunEvent]) -> dict[str, list[dict[str, str]]]:
    """List whose words an answer rests on, for the tool policy of later turns."""
    sources = dict.fromkeys(e.source for e in events if isinstance(e, ToolEnded) and e.source)
    if _find_route(events).route == "command" or any(map(_holds_library, events)):
        sources[LIBRARY] = None
    return {"sources": [asdict(source) for source in sources]} if sources else {}


def _holds_library(event: RunEvent) -> bool:
    return isinstance(event, DocumentsGiven) and event.holds_library


def _find_route(events: Sequence[RunEvent]) -> RouteChosen:
    chosen = (event for event in reversed(events) if isinstance(event, RouteChosen))
    return next(chosen, RouteChosen("answer", 0))


def _find_chart(events: Sequence[RunEvent]) -> Chart | None:
    charts = (event.chart for event in reversed(events) if isinstance(event, ChartShown))
    return next(charts, None)


def _find_question(events: Sequence[RunEvent]) -> dict[str, str]:
    """Name the question with which the answer ends and that the owner's next message answers."""
    requests = (event.confirmation for event in events if isinstance(event, ConfirmationRequested))
    question = next((request for request in requests if request.channel == "reply"), None)
    if question is None:
        return {}
    words = {QUESTION_WORDS_KEY: question.typed_words} if question.typed_words else {}
    return {QUESTION_KEY: question.id, **words}


def _find_listed(events: Sequence[RunEvent]) -> dict[str, Any]:
    """Name what the answer numbers, for the commands that follow."""
    listed = next((event for event in events if isinstance(event, MemoriesListed)), None)
    return {LISTED_KEY: asdict(listed)} if listed is not None else {}


def _collect_changes(events: Sequence[RunEvent]) -> dict[str, list[dict[str, Any]]]:
    """List what the answer changed in the library, so that it can be undone."""
    changes = [event.change for event in events if isinstance(event, LibraryChanged)]
    return {METADATA_FIELD: dump_changes(changes)} if changes else {}
