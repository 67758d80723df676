"""One title and overview of a conversation that was read in parts, written over those of the parts.

Also called: reduce step.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from functions.process_conversation.processing.cached_completion import (
    Extraction,
    complete_once,
)
from functions.process_conversation.processing.model_outputs import WholeOutput
from functions.process_conversation.processing.read_transcript import get_language
from functions.process_conversation.processing.structure import clean_overview, clean_title
from functions.process_conversation.processing.transcript_parts import MAX_PART_TOKENS
from shared import prompts, telemetry
from shared.domain.conversations.conversation import Structured
from shared.domain.errors import ModelFailed
from shared.models.data_room import DataRoom
from shared.models.windows import count_data_tokens, cut_texts

PROMPT = "process_conversation/whole"
ANSWER_TOKENS = 2_000


async def describe_whole(
    extraction: Extraction, parts: Sequence[Structured], merged: Structured
) -> Structured:
    """Return `merged` with one title and overview of all parts, by one model call; as it is where that fails.

    The overviews are cut to what the model reads at once. Raises ModelOutage.
    """
    if len(parts) < 2:
        return merged
    room = DataRoom(extraction.model, "reader", max_tokens=MAX_PART_TOKENS)
    language = get_language(extraction)
    frame = {
        "parts": [{"title": part.title, "overview": ""} for part in parts],
        "write_in": language,
    }
    tokens = room.compute(prompts.render(PROMPT), ANSWER_TOKENS) - count_data_tokens(frame)
    overviews = cut_texts([part.overview for part in parts], tokens)
    told = [
        {"title": part.title, "overview": overview}
        for part, overview in zip(parts, overviews, strict=True)
    ]
    data = {"parts": told, "write_in": language}
    texts = "\n".join(f"{part.title}\n{part.overview}" for part in parts)
    try:
        answer = await complete_once(
            extraction,
            prompts.build_prompt(PROMPT, data, answer_tokens=ANSWER_TOKENS),
            role="reader",
            schema=WholeOutput,
            covers={"parts_hash": hashlib.sha256(texts.encode()).hexdigest()},
        )
    except ModelFailed as error:
        telemetry.warning("whole_not_described", error=type(error).__name__)
        return merged
    conversation = extraction.conversation
    return replace(
        merged,
        title=clean_title(answer.title, conversation) or merged.title,
        overview=clean_overview(answer.overview, conversation) or merged.overview,
    )
