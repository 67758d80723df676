"""Notes about an answer and its chat, built from a model's output: each cut to its limits; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from functions.chat.notes.model_outputs import FirstNotesOutput, NotesOutput
from functions.chat.notes.private_details import has_private
from functions.chat.notes.suggested_questions import select_questions
from shared.domain.chats.chat import Message
from shared.domain.chats.chat_notes import (
    DEFAULT_LANGUAGE,
    MAX_ICONS,
    MAX_SUMMARY_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    AnswerNotes,
    ChatNotes,
    SuggestedAction,
)
from shared.domain.ids import BranchId
from shared.domain.provenance import TextKinds, join_kinds
from shared.domain.scripts import find_script, find_script_of_language
from shared.domain.value import value
from shared.domain.words import truncate_words
from shared.security.private_data import has_secret, hide_secrets
from shared.security.visible_text import strip_invisible

MAX_TITLE_WORDS = 10
MAX_TITLE_CHARS = 120
MAX_READ_CHARS = 2_000
"""Of a question, which has far more words than a title."""
MAX_SENTENCES = 3
MAX_NEXT_STEPS = 4
MAX_CATEGORIES = 3
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_NEEDLESS_SPACE = re.compile(r"(?<=[。！？]) ")
_ICON = re.compile(r"[a-z0-9]{1,24}(?:-[a-z0-9]{1,24}){0,4}")
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{2,8})*")


@value
class NotedExchange:
    """A question and its answer; `private` are the terms that only memories and settings brought in.

    `profile_language` is the one the owner chose; empty for none.
    """

    question: Message
    answer: Message
    private: frozenset[str] = frozenset()
    profile_language: str = ""


def build_answer_notes(
    output: NotesOutput, exchange: NotedExchange, actions: Sequence[SuggestedAction] = ()
) -> AnswerNotes:
    """Return what is noted about an answer; next steps are for code alone."""
    asked = exchange.question.text
    script = find_script(asked)
    steps = output.next_steps if has_code(exchange.answer.text) else ()
    is_understood = _is_in(output.follow_up_language, output.language)
    follow_ups = output.follow_ups if is_understood else ()
    return AnswerNotes(
        follow_ups=select_questions(follow_ups, script=script, asked=asked),
        next_steps=select_questions(steps, script=script, asked=asked, limit=MAX_NEXT_STEPS),
        actions=tuple(actions),
        new_categories=_list_lines(output.new_categories, exchange.private, MAX_CATEGORIES),
    )


def build_chat_notes(
    output: NotesOutput, exchange: NotedExchange, previous: ChatNotes, branch: BranchId
) -> ChatNotes:
    """Return what is noted about a chat with this answer, on top of what was noted before.

    The category is kept until the topic clearly shifts, and icons once there are some.
    """
    language = parse_language(output.language) or _find_language(exchange, previous)
    is_kept = previous.noted_until is not None and output.topic_shift != "noticeable_shift"
    summary = trim_summary(output.summary, exchange.private)
    tags = _list_lines([*output.tags, *previous.tags], exchange.private, MAX_TAGS)
    is_understood = _is_in(output.new_chat_language, exchange.profile_language or language)
    new_chats = select_questions(
        output.new_chats if is_understood else (),
        script=_find_profile_script(exchange, language),
        asked=exchange.question.text,
    )
    return ChatNotes(
        summary=summary or previous.summary,
        tags=tags,
        icons=previous.icons or _select_icons(output),
        category=previous.category if is_kept else output.category,
        language=language,
        topic_shift=output.topic_shift,
        needs_project_overview=output.needs_project_overview,
        new_chats=new_chats or previous.new_chats,
        noted_until=exchange.answer.position,
        noted_branch=branch,
        read_kinds=join_kinds(previous.read_kinds or (), exchange.answer.text_kinds),
    )


def mark_noted(exchange: NotedExchange, previous: ChatNotes, branch: BranchId) -> ChatNotes:
    """Return what was noted before, where the model says nothing about this answer."""
    return replace(
        previous,
        language=_find_language(exchange, previous),
        noted_until=exchange.answer.position,
        noted_branch=branch,
    )


def choose_title(output: NotesOutput | None, exchange: NotedExchange) -> tuple[str, TextKinds]:
    """Return the model's title, or else the beginning of the question, and what had been read for it."""
    title = trim_title(output.title) if isinstance(output, FirstNotesOutput) else ""
    if title:
        return title, exchange.answer.text_kinds
    return trim_title(exchange.question.text), exchange.question.text_kinds


def trim_title(text: str) -> str:
    """Fit a title to its limits; it stands in lists, so it names no secret."""
    shown = hide_secrets(strip_invisible(text[:MAX_READ_CHARS]))
    return truncate_words(shown.strip(" \n\"'“”«»"), MAX_TITLE_WORDS)[:MAX_TITLE_CHARS]


def trim_summary(text: str, private: frozenset[str]) -> str:
    """Fit a summary to its limits, without secrets; a sentence with a detail that is private is left out."""
    sentences = _SENTENCE_END.split(hide_secrets(" ".join(strip_invisible(text).split())))
    fitting = [sentence for sentence in sentences if not has_private(sentence, private)]
    joined = _NEEDLESS_SPACE.sub("", " ".join(fitting[:MAX_SENTENCES]))
    return joined[:MAX_SUMMARY_CHARS].strip()


def parse_language(code: str) -> str:
    """Return the primary part of a language code; empty for what is none."""
    match = _LANGUAGE.fullmatch(code.strip())
    return match[1].lower() if match else ""


def _find_language(exchange: NotedExchange, previous: ChatNotes) -> str:
    """Return the language as it was noted, else the owner's, else English."""
    if previous.noted_until is not None:
        return previous.language
    return parse_language(exchange.profile_language) or DEFAULT_LANGUAGE


def has_code(text: str) -> bool:
    """Tell whether an answer holds a block of code."""
    return "```" in text


def _is_in(declared: str, wanted: str) -> bool:
    """Tell whether texts are in a language, as their writer declares; else only letters tell."""
    codes = {parse_language(declared), parse_language(wanted)}
    return "" in codes or len(codes) == 1


def _find_profile_script(exchange: NotedExchange, language: str) -> str:
    wanted = exchange.profile_language.partition("-")[0].lower()
    if not wanted or wanted == language:
        return find_script(exchange.question.text)
    return find_script_of_language(wanted)


def _list_lines(lines: Iterable[str], private: frozenset[str], limit: int) -> tuple[str, ...]:
    """Return short lines, each once whatever its case, without those that hold a secret or a private detail."""
    cleaned = (" ".join(strip_invisible(line).split()).strip(" #") for line in lines)
    unique: dict[str, str] = {}
    for line in cleaned:
        if not line or len(line) > MAX_TAG_CHARS or has_secret(line):
            continue
        if not has_private(line, private):
            unique.setdefault(line.casefold(), line)
    return tuple(unique.values())[:limit]


def _select_icons(output: NotesOutput) -> tuple[str, ...]:
    names = output.icons if isinstance(output, FirstNotesOutput) else ()
    return tuple(dict.fromkeys(filter(_ICON.fullmatch, names)))[:MAX_ICONS]
