"""Promotion: which statements of a stretch of a chat are written, and which wait for another; pure.

A statement is supported by each message of the owner that names its term or shares two terms with its
quotation, by what the stretch was about, and by earlier stretches.
"""

from collections.abc import Sequence

from shared.domain.chats.arc import Statement
from shared.retrieval.terms import tokenize

MIN_SHARED_TERMS = 2
ENOUGH = 2
MIN_TERM_CHARS = 4
"""Shorter words are too common to support anything by themselves."""


def is_promoted(
    statement: Statement, *, said: Sequence[str], about: str, earlier: Sequence[str]
) -> bool:
    """Tell whether a statement is written now, else it waits.

    `said` are the owner's messages of the stretch, `about` is what it was about, `earlier` what earlier
    stretches were about.
    """
    if statement.is_sure:
        return True
    support = sum(is_supported(statement, text) for text in said)
    if support >= ENOUGH or statement.use == "rule":
        return support >= ENOUGH
    was_said_before = any(is_supported(statement, text) for text in earlier)
    if statement.is_weak:
        return support >= 1 and was_said_before
    return support >= 1 and (was_said_before or _rate(statement, about) >= ENOUGH)


def is_supported(statement: Statement, text: str) -> bool:
    return _names_term(statement, text) or _count_shared(statement, text) >= MIN_SHARED_TERMS


def _rate(statement: Statement, about: str) -> int:
    """Rate how much a stretch was about a statement, from 0 to 4."""
    shared_count = _count_shared(statement, about)
    by_words = (shared_count >= MIN_SHARED_TERMS) + (shared_count > MIN_SHARED_TERMS)
    return 2 * _names_term(statement, about) + by_words


def _names_term(statement: Statement, text: str) -> bool:
    wanted, terms = tokenize(statement.term), tokenize(text)
    starts = range(len(terms) - len(wanted) + 1)
    return bool(wanted) and any(terms[n : n + len(wanted)] == wanted for n in starts)


def _count_shared(statement: Statement, text: str) -> int:
    return len(_find_meaningful(statement.quote) & _find_meaningful(text))


def _find_meaningful(text: str) -> set[str]:
    return {term for term in tokenize(text) if len(term) >= MIN_TERM_CHARS or not term.isascii()}
