"""Templates of summary apps: a stranger's text that shapes one summary, and nothing else.

It reaches the model as data, has no tools, and its app learns nothing: the text that comes back is
stored for the owner alone, and links no address that nobody said.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.cached_completion import (
    build_prompt,
    complete_once,
    split_transcript,
)
from functions.process_conversation.processing.model_outputs import TemplateOutput
from shared import telemetry
from shared.domain.app import App
from shared.domain.attachments import AppResult
from shared.domain.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.model import Prompt
from shared.domain.profile import Profile
from shared.ports import ChatModel
from shared.security.link_filter import extract_urls, filter_links
from shared.security.visible_text import strip_invisible

MAX_SUMMARY_CHARS = 12_000


async def apply_template(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    app: App,
    prompt: Prompt,
    profile: Profile,
) -> tuple[AppResult, ...]:
    """Return the summary of an app, by one model call; what was stored before, if that fails.

    A template never fails the processing.
    """
    try:
        answer = await complete_once(
            deps,
            uid,
            conversation,
            prompt,
            profile=profile,
            role="reader",
            schema=TemplateOutput,
            stage=f"template-{app.id}",
        )
    except (ModelFailed, Unavailable) as error:
        telemetry.warning("template_failed", app=app.id, error=type(error).__name__)
        return conversation.apps_results
    content = clean_summary(answer.summary, conversation)
    return (AppResult(app_id=app.id, content=content),) if content else conversation.apps_results


async def try_template(
    model: ChatModel, conversation: Conversation, template: str, zone: str
) -> str:
    """Return what a template makes of a conversation. Raises ModelFailed and Unavailable."""
    [data, *others] = split_transcript(conversation, zone)
    overview = conversation.structured.overview
    prompt = build_template_prompt(template, data, overview=overview if others else "")
    answer = await model.complete_structured("reader", prompt, TemplateOutput)
    return clean_summary(answer.summary, conversation)


def build_template_prompt(template: str, data: Mapping[str, Any], *, overview: str = "") -> Prompt:
    """Build the prompt of a template; its version changes with the template.

    With an `overview`, that stands for a transcript which is too long to be read at once.
    """
    transcript = [] if overview else data["transcript"]
    content = {**data, "transcript": transcript, "overview": overview, "template": template}
    template_hash = hashlib.sha256(template.encode()).hexdigest()[:12]
    prompt = build_prompt("template", content)
    return Prompt(
        name=prompt.name,
        version=f"{prompt.version}-{template_hash}",
        instructions=prompt.instructions,
        data=prompt.data,
    )


def clean_summary(text: str, conversation: Conversation) -> str:
    """Return visible text within the limit; it links only addresses that stand in the transcript."""
    segments = conversation.transcript_segments
    urls = {url for segment in segments for url in extract_urls(segment.text)}
    return filter_links(strip_invisible(text), urls).strip()[:MAX_SUMMARY_CHARS]
