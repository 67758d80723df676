"""One title and overview of a conversation that was read in parts, written over those of the parts.

What was promised at the beginning and again two hours later is one task: the same call says so.

Also called: reduce step.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from functions.process_conversation.processing.cached_completion import (
    Extraction,
    complete_once,
)
from functions.process_conversation.processing.merge_parts import merge_repeated
from functions.process_conversation.processing.model_outputs import WholeOutput
from functions.process_conversation.processing.read_transcript import get_language
from functions.process_conversation.processing.structure import clean_overview, clean_title
from functions.process_conversation.processing.transcript_parts import MAX_PART_TOKENS
from shared import prompts, telemetry
from shared.domain.conversations.conversation import Structured
from shared.domain.errors import ModelFailed
from shared.domain.wall_clock import write_wall_clock
from shared.models.data_room import DataRoom
from shared.models.windows import count_data_tokens, cut_texts, take_fitting

PROMPT = "process_conversation/whole"
ANSWER_TOKENS = 2_000
TASKS_SHARE = 3
"""The tasks take at most this part of the data."""


async def describe_whole(
    extraction: Extraction, parts: Sequence[Structured], merged: Structured
) -> Structured:
    """Return `merged` with one title and overview of all parts, and each task once; as it is where that fails.

    It takes one model call; overviews and tasks are cut to what the model reads at once. Raises ModelOutage.
    """
    if len(parts) < 2:
        return merged
    data = _build_data(extraction, parts, merged)
    try:
        answer = await complete_once(
            extraction,
            prompts.build_prompt(PROMPT, data, answer_tokens=ANSWER_TOKENS),
            role="reader",
            schema=WholeOutput,
            covers={"parts_hash": _hash([*parts, replace(merged, overview="")])},
        )
    except ModelFailed as error:
        telemetry.warning("whole_not_described", error=type(error).__name__)
        return merged
    conversation, zone = extraction.conversation, extraction.profile.zone
    repeats = [(each.number, each.repeats) for each in answer.same_tasks]
    return replace(
        merge_repeated(merged, repeats, zone),
        title=clean_title(answer.title, conversation) or merged.title,
        overview=clean_overview(answer.overview, conversation) or merged.overview,
    )


def _build_data(
    extraction: Extraction, parts: Sequence[Structured], merged: Structured
) -> Mapping[str, Any]:
    room = DataRoom(extraction.model, "reader", max_tokens=MAX_PART_TOKENS)
    frame = {
        "parts": [{"title": part.title, "overview": ""} for part in parts],
        "tasks": [],
        "write_in": get_language(extraction),
    }
    tokens = room.compute(prompts.render(PROMPT), ANSWER_TOKENS) - count_data_tokens(frame)
    tasks = take_fitting(_describe_tasks(merged, extraction.profile.zone), tokens // TASKS_SHARE)
    overviews = cut_texts([part.overview for part in parts], tokens - count_data_tokens(tasks))
    told = [
        {"title": part.title, "overview": overview}
        for part, overview in zip(parts, overviews, strict=True)
    ]
    return {**frame, "parts": told, "tasks": tasks}


def _describe_tasks(structured: Structured, zone: ZoneInfo) -> Iterator[Mapping[str, Any]]:
    for n, item in enumerate(structured.action_items):
        due = {"due": write_wall_clock(item.due_at, zone)} if item.due_at else {}
        owner = item.owner_name or item.owner
        yield {"number": n, "description": item.description, "owner": owner, **due}


def _hash(structures: Sequence[Structured]) -> str:
    told = [(each.title, each.overview, each.action_items) for each in structures]
    return hashlib.sha256(repr(told).encode()).hexdigest()
