"""Taint of a question: what its owner said themselves, and what of others is given with it."""

from collections.abc import Iterator

from functions.chat.consent.nobodys_words import find_writers, is_owners_word
from functions.chat.consent.own_words import Agree
from functions.chat.consent.taint import Taint
from functions.chat.context.known import Known
from functions.chat.context.page import Page
from functions.chat.turn.turn_context import TurnContext
from shared.domain.provenance import LIBRARY, TextKinds, join_kinds

_LIBRARY_KINDS: TextKinds = (LIBRARY.text_kind,)


def build_taint(
    text: str, documents: TurnContext, page: Page | None, agree: Agree | None = None
) -> Taint:
    """Return what a turn has read before its first call of a model."""
    writers = find_writers(text, is_offered=documents.is_offered)
    own_texts = [message.text for message in documents.window if is_owners_word(message)]
    kinds = join_kinds(writers, *_list_kinds(documents, page))
    return Taint([*([] if writers else [text]), *own_texts], kinds, agree)


def _list_kinds(documents: TurnContext, page: Page | None) -> Iterator[TextKinds]:
    agent, files, project = documents.answering_agent, documents.files, documents.project
    yield documents.session.summarised_kinds
    yield from (message.text_kinds for message in documents.window)
    yield from ((result.source.text_kind,) for result in documents.results.by_embed.values())
    yield from _list_known_kinds(documents.known)
    if page is not None or documents.details:
        yield _LIBRARY_KINDS
    yield from (_or(chat.read_kinds, ("chat",)) for chat in documents.similar_chats)
    if files.of_question or files.texts or files.forgotten or project.files:
        yield ("file",)
    if documents.app is not None:
        yield ("app",)
    if agent is not None and agent.is_foreign:
        yield ("agent",)


def _list_known_kinds(known: Known) -> Iterator[TextKinds]:
    """Yield the kinds of what is known; where nobody knows them, it may hold words of others."""
    if known.reason is None:
        return
    yield from (excerpt.conversation.text_kinds for excerpt in known.excerpts)
    yield from (_or(fact.read_kinds, _LIBRARY_KINDS) for fact in known.facts)
    if known.arc is not None:
        yield _or(known.arc.read_kinds, ("chat",))


def _or(kinds: TextKinds | None, otherwise: TextKinds) -> TextKinds:
    return otherwise if kinds is None else kinds
