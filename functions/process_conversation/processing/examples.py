"""Examples of the extraction prompt: invented names, by which an answer that copies an example is known."""

from collections.abc import Iterable, Mapping

from shared.retrieval.passages import stands_in_words

EXAMPLES: Mapping[str, str] = {"example_name": "Thrennick", "example_food": "Quorvel"}
"""By slot. Nobody and nothing is called so."""


def quotes_example(text: str, spoken: Iterable[str]) -> bool:
    """Tell whether an answer has a name of an example that nobody said."""
    names = [name for name in EXAMPLES.values() if stands_in_words(name, text)]
    return bool(names) and not any(stands_in_words(name, said) for name in names for said in spoken)
