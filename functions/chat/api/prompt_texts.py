"""Prompt texts: rules for what owners send to steer the assistant, without signs that nobody sees."""

from pydantic import AfterValidator

from shared.security.visible_text import strip_invisible


def _clean_line(text: str) -> str:
    return " ".join(strip_invisible(text).split())


def _clean_text(text: str) -> str:
    return strip_invisible(text).strip()


def _require_words(text: str) -> str:
    if not text:
        raise ValueError("Please write something that can be seen.")
    return text


IN_ONE_LINE = AfterValidator(_clean_line)
WITH_LINE_BREAKS = AfterValidator(_clean_text)
NOT_EMPTY = AfterValidator(_require_words)
