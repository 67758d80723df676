"""Examples of the extraction prompt: invented names, by which an answer that copies an example is known."""

from collections.abc import Iterable, Mapping

EXAMPLES: Mapping[str, str] = {"example_name": "Thrennick", "example_food": "Quorvel"}
"""By slot. Nobody and nothing is called so."""


def quotes_example(text: str, spoken: Iterable[str]) -> bool:
    """Tell whether an answer has a name of an example that nobody said."""
    names = [name.casefold() for name in EXAMPLES.values() if name.casefold() in text.casefold()]
    return bool(names) and not any(name in said.casefold() for name in names for said in spoken)
