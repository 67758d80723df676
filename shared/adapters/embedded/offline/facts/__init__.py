"""The facts people tell about themselves, a file per language."""

from collections.abc import Mapping

from shared.adapters.embedded.offline.facts import de, en, es, fr, it
from shared.adapters.embedded.offline.facts.language import Language

LANGUAGES: Mapping[str, Language] = {
    "en": en.LANGUAGE,
    "de": de.LANGUAGE,
    "fr": fr.LANGUAGE,
    "es": es.LANGUAGE,
    "it": it.LANGUAGE,
}
