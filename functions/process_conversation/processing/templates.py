"""Templates of summary apps: a stranger's text that shapes one summary, and nothing else.

It reaches the model as data, has no tools, and its app learns nothing: the text that comes back is
stored for the owner alone, and links no address that nobody said.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from functions.process_conversation.processing.cached_completion import (
    Extraction,
    complete_once,
)
from functions.process_conversation.processing.model_outputs import TemplateOutput
from functions.process_conversation.processing.transcript_parts import (
    BEGINNING,
    MAX_PART_TOKENS,
    Line,
    TranscriptPart,
    build_lines,
    describe_context,
    take_part,
)
from shared import prompts, telemetry
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.apps.app import App
from shared.domain.conversations.attachments import AppResult
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import Prompt
from shared.domain.value import value
from shared.models.data_room import DataRoom
from shared.models.windows import count_data_tokens, cut_text, cut_texts
from shared.ports import ChatModel
from shared.security.link_filter import extract_urls, filter_links
from shared.security.visible_text import strip_invisible

Ask = Callable[[Prompt], Awaitable[TemplateOutput]]
MAX_SUMMARY_CHARS = 12_000
PROMPT = "process_conversation/template"
ANSWER_TOKENS = 4_000
"""Six hundred words, also in scripts of which each sign is a token or more."""


@value
class _Source:
    """A conversation as templates are given it."""

    model: ChatModel
    conversation: Conversation
    lines: Sequence[Line]
    context: Mapping[str, Any]
    overview: str


async def apply_template(extraction: Extraction, app: App, overview: str) -> tuple[AppResult, ...]:
    """Return the summary of an app, by one model call; what was stored before, if that fails.

    The `overview` stands for a transcript that is too long for the model. A template never fails the
    processing.
    """
    conversation = extraction.conversation
    source = _Source(
        model=extraction.model,
        conversation=conversation,
        lines=extraction.lines,
        context=extraction.context,
        overview=overview,
    )

    async def ask(prompt: Prompt) -> TemplateOutput:
        return await complete_once(
            extraction, prompt, role="reader", schema=TemplateOutput, stage=f"template-{app.id}"
        )

    try:
        answer = await _summarise(source, app.memory_prompt or "", ask)
    except (ModelFailed, Unavailable) as error:
        telemetry.warning("template_failed", app=app.id, error=type(error).__name__)
        return conversation.apps_results
    content = clean_summary(answer.summary, conversation)
    return (AppResult(app_id=app.id, content=content),) if content else conversation.apps_results


async def try_template(
    model: ChatModel, conversation: Conversation, template: str, zone: ZoneInfo
) -> str:
    """Return what a template makes of a conversation. Raises ModelFailed and Unavailable."""
    source = _Source(
        model=model,
        conversation=conversation,
        lines=await run_beside_the_loop([conversation], partial(build_lines, conversation)),
        context=describe_context(conversation, zone),
        overview=conversation.structured.overview,
    )
    ask = partial(model.complete_structured, "reader", schema=TemplateOutput)
    answer = await _summarise(source, template, ask)
    return clean_summary(answer.summary, conversation)


async def _summarise(source: _Source, template: str, ask: Ask) -> TemplateOutput:
    """Ask about the whole transcript, or about less where that is more than the model takes at once."""
    room = DataRoom(source.model, "reader", max_tokens=MAX_PART_TOKENS)
    part = await _take_beginning(source, template, room)
    if part.is_last:
        whole = build_template_prompt(template, {"transcript": part.lines, **source.context})
        try:
            return await ask(replace(whole, is_divisible=True))
        except ModelFailed as error:
            room.halve(count_data_tokens(whole.data), error)
    return await ask(await _build_shorter_prompt(source, template, room))


async def _build_shorter_prompt(source: _Source, template: str, room: DataRoom) -> Prompt:
    """Let the overview stand for the transcript, or its beginning where there is none."""
    tokens = _compute_tokens(room, source)
    if source.overview:
        template, overview = cut_texts([template, source.overview], tokens)
        return build_template_prompt(template, source.context, overview=overview)
    template = cut_text(template, tokens // 2)
    part = await _take_beginning(source, template, room)
    return build_template_prompt(template, {"transcript": part.lines, **source.context})


async def _take_beginning(source: _Source, template: str, room: DataRoom) -> TranscriptPart:
    tokens = _compute_tokens(room, source) - count_data_tokens(template)
    return await run_beside_the_loop(
        [source.conversation], partial(take_part, source.lines, BEGINNING, tokens)
    )


def _compute_tokens(room: DataRoom, source: _Source) -> int:
    """Return the room for the template, and for what stands for the conversation."""
    tokens = room.compute(prompts.render(PROMPT), ANSWER_TOKENS)
    return tokens - count_data_tokens({"template": "", "transcript": [], **source.context})


def build_template_prompt(template: str, data: Mapping[str, Any], *, overview: str = "") -> Prompt:
    """Build the prompt of a template; its version changes with the template.

    With an `overview`, that stands for a transcript which is too long to be read at once.
    """
    transcript = [] if overview else data["transcript"]
    content = {**data, "transcript": transcript, "overview": overview, "template": template}
    template_hash = hashlib.sha256(template.encode()).hexdigest()[:12]
    prompt = prompts.build_prompt(PROMPT, content, answer_tokens=ANSWER_TOKENS)
    return replace(prompt, version=f"{prompt.version}-{template_hash}")


def clean_summary(text: str, conversation: Conversation) -> str:
    """Return visible text within the limit; it links only addresses that stand in the transcript."""
    segments = conversation.transcript_segments
    urls = {url for segment in segments for url in extract_urls(segment.text)}
    return filter_links(strip_invisible(text), urls).strip()[:MAX_SUMMARY_CHARS]
