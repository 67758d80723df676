"""Required messages of a cycle: all but the history, in their order; pure."""

from collections.abc import Iterator, Sequence

from functions.chat.context.blocks import TurnBlocks, count_message_tokens
from functions.chat.context.given_files import (
    add_pictures,
    build_document_messages,
    build_project_notices,
    hide_pictures,
)
from functions.chat.context.reminder import build_reminder
from shared import prompts
from shared.domain.models.model import ModelMessage, SystemText, UserText
from shared.domain.value import value


@value
class Required:
    """The messages that stand in each cycle: before the history, right after it, and at the end."""

    head: Sequence[ModelMessage]
    standing: Sequence[ModelMessage]
    latest: Sequence[ModelMessage]
    tokens: int


def build_required(blocks: TurnBlocks, *, searched: bool, is_last: bool) -> Required:
    """Build them for a cycle: `searched` something to cite, or `is_last` with calls behind it."""
    head, standing = _build_head(blocks), _build_standing(blocks)
    reminder = build_reminder(blocks.reminder, blocks.warning, searched=searched, is_last=is_last)
    latest = [*_build_latest_message(blocks), *_list_exchanges(blocks), *reminder]
    tokens = count_message_tokens([*head, *standing, *latest])
    return Required(head=head, standing=standing, latest=latest, tokens=tokens)


def _build_head(blocks: TurnBlocks) -> list[ModelMessage]:
    system_texts = (
        blocks.rules,
        blocks.focus,
        blocks.guidance,
        blocks.own_prompt,
        blocks.owner_rules,
        blocks.app_prompt,
    )
    summary = [UserText(text=blocks.summary)] if blocks.summary else []
    return [*(SystemText(text=text) for text in system_texts if text), *summary]


def _build_standing(blocks: TurnBlocks) -> list[UserText]:
    """Return what each turn sees anew right above its latest message."""
    agent = [UserText(text=blocks.agent_prompt)] if blocks.agent_prompt else []
    documents = build_document_messages(blocks.project_files)
    return [*agent, *documents, *build_project_notices(blocks.project_notes)]


def _build_latest_message(blocks: TurnBlocks) -> list[ModelMessage]:
    """Return the message with what it came with; the question stands last, but for how it is answered."""
    lines = "\n".join([*blocks.lines, *blocks.personal_lines])
    facts = prompts.render("chat/context", context=lines) if lines else ""
    known = "\n".join(filter(None, [blocks.known_intro, blocks.known])) if blocks.known else ""
    data = [blocks.details, known, blocks.similar_chats, blocks.page]
    text = "\n\n".join(filter(None, [*data, facts, blocks.question, blocks.ending]))
    message: ModelMessage = add_pictures(UserText(text=text), blocks.pictures)
    message = message if blocks.facts.takes_images else hide_pictures(message)
    return [*build_document_messages(blocks.files), message]


def _list_exchanges(blocks: TurnBlocks) -> Iterator[ModelMessage]:
    for exchange in blocks.exchanges:
        yield exchange.turn
        yield from exchange.results
