"""Variables of the environment: what reads each kind of them, or says in a sentence what is wrong with it.

A reader takes the whole environment, so that one setting may depend on others. It raises ValueError
with a line for each thing that is wrong.

Also called: config parsing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import inf
from typing import Any, TypeVar
from urllib.parse import urlsplit

Environment = Mapping[str, str]
T = TypeVar("T")
Key = TypeVar("Key")
Reader = Callable[[Environment], T]
Parse = Callable[[str], T]
"""It raises ValueError for a text that cannot be meant; the sentence of its variable says why."""
UNSENDABLE = "use ASCII letters, digits and signs, without spaces: it is sent in a header"


def setting(read: Reader[T]) -> T:
    """Declare a field of Settings by its reader; its default is what an empty environment gives.

    It has the type of its value, as `dataclasses.field` has.
    """
    declared: Any = field(default_factory=lambda: read({}), metadata={"read": read})
    return declared  # type: ignore[no-any-return] # a field stands where its value will


def read_all(readers: Mapping[Key, Reader[T]], env: Environment) -> tuple[dict[Key, T], list[str]]:
    """Return what could be read, and once each thing that is wrong with the rest."""
    values, errors = {}, []
    for key, read in readers.items():
        try:
            values[key] = read(env)
        except ValueError as error:
            errors.append(str(error))
    return values, list(dict.fromkeys(errors))


def refuse(errors: Sequence[str]) -> None:
    """Raises ValueError if anything is wrong."""
    if errors:
        raise ValueError("\n".join(errors))


def is_cloud(env: Environment) -> bool:
    return env.get("KEEPSAKE_WORLD") == "cloud"


def variable(
    name: str, parse: Parse[T], default: T, sentence: str = "", *, shows_text: bool = True
) -> Reader[T]:
    """Read one variable, which counts as not set if it is empty. What may be a secret shows no text."""

    def read(env: Environment) -> T:
        text = env.get(name)
        if not text:
            return default
        try:
            return parse(text)
        except ValueError:
            shown = f"{name}={text!r}" if shows_text else name
            raise ValueError(f"{shown}: {sentence}") from None

    return read


def string(name: str, default: str) -> Reader[str]:
    return variable(name, str, default)


def optional(name: str) -> Reader[str | None]:
    return variable(name, str, None)


def key(name: str) -> Reader[str | None]:
    """Read a key that is sent in a header; without what copying left around it."""
    return variable(name, parse_key, None, UNSENDABLE, shows_text=False)


def number(
    name: str, default: int, sentence: str, *, least: int = 0, most: float = inf
) -> Reader[int]:
    return variable(name, parse_number(least, most), default, sentence)


def choice(name: str, choices: Mapping[str, T], sentence: str, *, unset: str = "") -> Reader[T]:
    """Read a word that stands for a value; `unset` is the one that counts where there is no variable."""

    def read(env: Environment) -> T:
        word = env.get(name, unset)
        if word not in choices:
            raise ValueError(f"{name}={word!r}: {sentence}")
        return choices[word]

    return read


def address(name: str, default: T, example: str) -> Reader[T | str]:
    """Read the address of a server; it may have a password in it, so it is not shown."""
    sentence = f"want an address such as {example}"
    return variable(name, parse_if(_is_address), default, sentence, shows_text=False)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return has_host and re.fullmatch(r"https?://\S+", text) is not None


def is_on(name: str) -> Reader[bool]:
    """Read a switch that only 1 turns on."""
    return choice(name, {"1": True, "0": False, "": False}, "want 1, or nothing")


def items(name: str) -> Reader[tuple[str, ...]]:
    return variable(name, parse_items, ())


def pairs(name: str, pair_format: str) -> Reader[Mapping[str, str]]:
    sentence = f"want {pair_format}, separated by commas"
    return variable(name, parse_pairs, {}, sentence, shows_text=False)


def each(names: Mapping[Key, str], parse: Parse[T], sentence: str) -> Reader[dict[Key, T]]:
    """Read those of several variables of one kind that are set."""
    readers = {key: variable(name, parse, None, sentence) for key, name in names.items()}

    def read(env: Environment) -> dict[Key, T]:
        values, errors = read_all(readers, env)
        refuse(errors)
        return {key: value for key, value in values.items() if value is not None}

    return read


def parse_key(text: str) -> str | None:
    """Return a key without the space around it, None where nothing else is there.

    Raises ValueError for one that no header can carry.
    """
    stripped = text.strip()
    if not is_sendable(stripped):
        raise ValueError(text)
    return stripped or None


def is_sendable(text: str) -> bool:
    """Tell whether a header can carry a key: visible ASCII, without spaces."""
    return re.fullmatch("[!-~]*", text) is not None


def parse_number(least: int = 0, most: float = inf) -> Parse[int]:
    def parse(text: str) -> int:
        if not (text.isdecimal() and least <= int(text) <= most):
            raise ValueError(text)
        return int(text)

    return parse


def parse_if(is_valid: Callable[[str], object]) -> Parse[str]:
    """Take texts that pass a check as they are."""

    def parse(text: str) -> str:
        if not is_valid(text):
            raise ValueError(text)
        return text

    return parse


def parse_items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def parse_pairs(text: str) -> dict[str, str]:
    found = [item.partition("=") for item in parse_items(text)]
    if not all(separator for _, separator, _ in found):
        raise ValueError(text)
    return {key: value for key, _, value in found}
