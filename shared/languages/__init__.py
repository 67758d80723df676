"""Languages: sentences of ours for people, in theirs; one JSON file a language, keyed by the English sentence.

Also called: i18n, internationalization, localization, translations, locale.
"""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
LANGUAGES = ("de", "es", "fr", "ja", "pt", "zh")
"""Those there are beside English."""


def translate(text: str, language: str | None, /, **values: object) -> str:
    """Return a sentence in a language (ISO 639-1, with or without a region), its slots filled.

    It stays English for an unknown language, and where the language does not have it.
    """
    translated = _load(_find_primary(language)).get(text, text)
    return translated.format(**values) if values else translated


def choose_accepted(header: str | None) -> str | None:
    """Return the first language of an Accept-Language header that we have; None for none of them."""
    tags = (part.partition(";")[0].strip() for part in (header or "").split(","))
    codes = (tag.partition("-")[0].lower() for tag in tags)
    return next((code for code in codes if code in ("en", *LANGUAGES)), None)


def has_language(language: str | None) -> bool:
    """Tell whether our sentences are there in a language other than English."""
    return bool(_find_primary(language))


def choose_language(written: str | None, chosen: str | None) -> str | None:
    """Return the language that somebody writes in where we have it, else the one that they chose."""
    return written if written == "en" or has_language(written) else chosen


@lru_cache(maxsize=100)
def _find_primary(language: str | None) -> str:
    primary = (language or "").replace("_", "-").partition("-")[0].lower()
    return primary if primary in LANGUAGES else ""


@cache
def _load(language: str) -> Mapping[str, str]:
    if not language:
        return {}
    catalog: dict[str, str] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return catalog
