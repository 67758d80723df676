"""Data of a prompt, cut so that a window holds it: the longest texts first, then the middle of lists; pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from shared.models.windows import count_data_tokens, cut_texts

_LEAST_CUT_TOKENS = 40
"""Shorter texts are not cut: they would say nothing."""
_MAX_ROUNDS = 40


def fit_data(data: Mapping[str, Any], max_tokens: int) -> Mapping[str, Any]:
    """Return data of at most `max_tokens`, as far as cutting texts and lists can reach it."""
    if count_data_tokens(data) <= max_tokens:
        return data
    fitted = to_jsonable_python(data)
    for _ in range(_MAX_ROUNDS):
        excess = count_data_tokens(fitted) - max_tokens
        if excess <= 0:
            break
        fitted = _cut(fitted, excess)
    return fitted if isinstance(fitted, Mapping) else data


def _cut(data: Any, excess: int) -> Any:
    """Cut the longest texts where they hold most of it, else the longest list."""
    texts = [text for text in _list_texts(data) if count_data_tokens(text) > _LEAST_CUT_TOKENS]
    held = sum(map(count_data_tokens, texts))
    longest = max(_list_lists(data), key=count_data_tokens, default=None)
    if texts and (longest is None or held - excess >= len(texts) * _LEAST_CUT_TOKENS):
        cut = dict(zip(texts, cut_texts(texts, max(held - excess, 0)), strict=True))
        return _replace_texts(data, cut)
    return data if longest is None else _shorten(data, longest)


def _list_texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    for part in _list_parts(data):
        yield from _list_texts(part)


def _list_lists(data: Any) -> Iterator[Sequence[Any]]:
    if isinstance(data, list) and data:
        yield data
    for part in _list_parts(data):
        yield from _list_lists(part)


def _list_parts(data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        yield from data.values()
    elif isinstance(data, list):
        yield from data


def _replace_texts(data: Any, cut: Mapping[str, str]) -> Any:
    match data:
        case str():
            return cut.get(data, data)
        case dict():
            return {key: _replace_texts(part, cut) for key, part in data.items()}
        case list():
            return [_replace_texts(part, cut) for part in data]
    return data


def _shorten(data: Any, longest: Sequence[Any]) -> Any:
    """Leave out the middle third of a list, at least one of its items."""
    if data is longest:
        third = max(len(longest) // 3, 1)
        start = (len(longest) - third + 1) // 2
        return [*longest[:start], *longest[start + third :]]
    if isinstance(data, dict):
        return {key: _shorten(part, longest) for key, part in data.items()}
    if isinstance(data, list):
        return [_shorten(part, longest) for part in data]
    return data
