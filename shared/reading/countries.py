"""Countries that a text names, in the languages that we have and in that of its writer."""

import re
from collections.abc import Collection, Mapping
from functools import cache

from shared.languages import LANGUAGES

_SHORT_NAMES: Mapping[str, str] = {
    "usa": "US",
    "america": "US",
    "uk": "GB",
    "england": "GB",
    "scotland": "GB",
    "wales": "GB",
}
"""Names that people use and the CLDR does not list."""


def find_country(text: str, countries: Collection[str], language: str | None) -> str | None:
    """Return the one country of these (ISO 3166) that a text names; None for none or several."""
    words = f" {_join_words(text)} "
    catalogs = [_SHORT_NAMES, *map(_load_names, ("en", *LANGUAGES, language))]
    found = {
        country
        for catalog in catalogs
        for name, country in catalog.items()
        if country in countries and _names(words, name)
    }
    return found.pop() if len(found) == 1 else None


def _join_words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _names(words: str, name: str) -> bool:
    """Tell whether a name stands among words; Chinese and Japanese have no spaces between them."""
    return f" {name} " in words or (not name.isascii() and not name.islower() and name in words)


@cache
def _load_names(language: str | None) -> Mapping[str, str]:
    """Return the names of countries in a language, in lower case; none for one that is unknown."""
    from babel import Locale, UnknownLocaleError

    try:
        territories = Locale.parse((language or "en").replace("-", "_")).territories
    except (UnknownLocaleError, ValueError):
        return {}
    return {_join_words(name): code for code, name in territories.items() if len(code) == 2}
