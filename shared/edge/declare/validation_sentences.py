"""Validation sentences: what is wrong with a request, in words of people, and what is allowed.

Fields are named as people would say them ("the due time in entry 2 of the items"), and nothing that
was sent is repeated, but for the name of a field that is not known here.

Also called: validation errors.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from shared.edge.declare.schemas import PATTERN_WORDS

MAX_NAME_CHARS = 64
_KINDS: Mapping[str, str] = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "dict": "an object with named fields",
    "model": "an object with named fields",
    "date": "a date: year, month and day",
    "time": "a time of day",
    "datetime": "a date and time in the form of ISO 8601",
    "timezone": "a date and time with its time zone",
    "url": "a web address",
    "none": "empty",
}
"""What a value has to be, by the first word of the error's type."""
_BOUNDS: Mapping[str, str] = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "literal_error": "{expected}",
    "enum": "{expected}",
}
_KEY = "[key]"
"""How pydantic says that the name of an entry is wrong, not its content."""
_UNION_MEMBERS = frozenset({"bool", "int", "float", "str"})
Location = Sequence[int | str]


def build_sentence(error: Mapping[str, Any]) -> str:
    """Say in one sentence what one of pydantic's error details means.

    A validator of a whole object names the `field` that it misses in the context.
    """
    kind, context = error["type"], error.get("ctx", {})
    subject = describe_place([*error["loc"], *filter(None, [context.get("field")])])
    if kind == "value_error":
        return _build_own_sentence(error["loc"], str(context["error"]))
    if kind == "extra_forbidden":
        return f"There is no field named “{_shorten(error['loc'][-1])}”{_place_parent(error)}."
    return _capitalise(f"{subject} {_describe_fault(kind, context, error.get('input'))}.")


def describe_place(location: Location) -> str:
    """Name a field as people would: "the text in entry 3 of the segments"."""
    parts = list(location)
    if len(parts) > 1 and parts[-1] == _KEY:
        return f"the name “{_shorten(parts[-2])}” in {describe_place(parts[:-2])}"
    if len(parts) > 1 and parts[-1] in _UNION_MEMBERS:
        parts.pop()
    words = ""
    for part in reversed(parts):
        name = f"entry {part + 1}" if isinstance(part, int) else f"the {_say_name(part)}"
        link = " in " if isinstance(part, int) else " of "
        words += (link if words else "") + name
    return words or "the request"


def _describe_fault(kind: str, context: Mapping[str, Any], value: object) -> str:
    if kind == "missing":
        return "must be given"
    if kind in _BOUNDS:
        return f"must be {_BOUNDS[kind].format(**context)}"
    if kind.endswith(("too_short", "too_long")):
        return _describe_length(kind, context, value)
    if kind == "string_pattern_mismatch":
        words = PATTERN_WORDS.get(context["pattern"], "in another form")
        return f"must be {words}"
    expected = _KINDS.get(kind.partition("_")[0])
    return f"must be {expected}" if expected else "has a value that is not allowed here"


def _describe_length(kind: str, context: Mapping[str, Any], value: object) -> str:
    is_text = isinstance(value, str)
    limit = context["max_length"] if kind.endswith("long") else context["min_length"]
    unit = ("character" if is_text else "entry") if limit == 1 else _PLURALS[is_text]
    if kind.endswith("short") and limit == 1:
        return "must not be empty"
    bound = "at most" if kind.endswith("long") else "at least"
    size = len(value) if isinstance(value, str) else context.get("actual_length")
    subject = "it has" if is_text else "there is" if size == 1 else "there are"
    tail = f"; {subject} {size}" if isinstance(size, int) else ""
    form = f"be {bound} {limit} {unit} long" if is_text else f"have {bound} {limit} {unit}"
    return f"must {form}{tail}"


_PLURALS = {True: "characters", False: "entries"}


def _build_own_sentence(location: Location, text: str) -> str:
    """Make a sentence of a validator's text: "must be …" follows its field, all else stands alone."""
    sentence = f"{describe_place(location)} {text}" if text.startswith("must ") else text
    return _capitalise(sentence if sentence.endswith(".") else f"{sentence}.")


def _place_parent(error: Mapping[str, Any]) -> str:
    parent = error["loc"][:-1]
    return f" in {describe_place(parent)}" if parent else ""


def _say_name(name: str) -> str:
    """Say a field's name: `is_user` is "user", `due_at` the "due time"."""
    plain = re.sub(r"_at$", " time", name.removeprefix("is_"))
    return _shorten(plain.replace("_", " ").strip() or "field")


def _shorten(name: object) -> str:
    text = "".join(char if char.isprintable() else " " for char in str(name))
    return text if len(text) <= MAX_NAME_CHARS else f"{text[: MAX_NAME_CHARS - 1]}…"


def _capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def format_validation_error(error: ValidationError) -> str:
    """Say what is wrong first, and where, without repeating what was sent."""
    return build_sentence(error.errors(include_url=False)[0])
