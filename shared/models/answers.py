"""Structured answers: a value of a schema, found in whatever a model wrote around it; pure.

Also called: structured output, JSON mode, output parser.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from shared.data.store.codec import type_adapter
from shared.domain.errors import ModelFailed
from shared.models.calls import iterate_objects
from shared.models.output_text import clean_output

T = TypeVar("T")
_MAX_PROBLEMS = 5


def parse_answer(
    text: str,
    reasoning: str,
    schema: type[T],
    *,
    name: str,
    data: Mapping[str, Any],
    may_be_cut: bool = False,
) -> T:
    """Parse the answer to a prompt about `data`: its JSON alone, fenced, within words, or given as a thought.

    One that `may_be_cut` is read as far as it came; thoughts that were cut are none. Its texts are cleaned as
    they are parsed: no other code has to. Raises ModelFailed.
    """
    adapter = type_adapter(schema)
    problems = 0
    candidates = _list_candidates(text if text.strip() else reasoning)
    for candidate in (*candidates, *(_list_begun(text) if may_be_cut else ())):
        try:
            answer: T = adapter.validate_json(_clean(candidate, data))
        except ValidationError as error:
            problems = problems or error.error_count()
        else:
            return answer
    message = f"the answer to {name!r} does not fit its schema: {problems} errors"
    raise ModelFailed(message, reason="malformed_answer")


def _clean(candidate: str, data: Mapping[str, Any]) -> str:
    """Clean the texts of JSON; what is none, or needs it not, stays as it is."""
    try:
        content = from_json(candidate)
    except ValueError:
        return candidate
    cleaned = clean_output(content, data)
    return candidate if cleaned == content else json.dumps(cleaned)


def is_wrapped(text: str) -> bool:
    """Tell whether there is an object in a text that is more than it: a fence, or words around it."""
    try:
        from_json(text)
    except ValueError:
        return next(iterate_objects(text), None) is not None
    return False


def describe_problems(text: str, schema: type) -> str:
    """Say for the model what is wrong with its answer, without quoting it."""
    try:
        type_adapter(schema).validate_json(text)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)[:_MAX_PROBLEMS]
        return "\n".join(
            f"- {'.'.join(map(str, p['loc'])) or 'answer'}: {p['msg']}" for p in problems
        )
    return ""


def _list_candidates(text: str) -> Iterator[str]:
    """Yield what may be the answer: all of a text, then the objects in it, but none that is part of another.

    Each is tried without its nulls too, where a field has a default.
    """
    yield text
    if text.startswith('"'):  # encoded twice
        yield from _decode(text)
    end = 0
    for start, content, stop in iterate_objects(text):
        between = text[end:start]
        if start >= end and between.count("{") <= between.count("}"):
            yield json.dumps(content)
            yield json.dumps(_drop_nulls(content))
            end = stop


def _list_begun(text: str) -> Iterator[str]:
    """Yield the object that a text begins and does not end, without the last item of its open list."""
    try:
        content = from_json(text[text.find("{") :], allow_partial=True)
    except ValueError:
        return
    yield json.dumps(_drop_last_item(content))


def _drop_last_item(content: Any) -> Any:
    """Drop the last item of the list that a cut text was in: it may be half of one."""
    match content:
        case {**fields} if fields:
            last = next(reversed(fields))
            return {**fields, last: _drop_last_item(fields[last])}
        case [*items] if items:
            return items[:-1]
    return content


def _decode(text: str) -> Iterator[str]:
    try:
        inner = json.loads(text)
    except ValueError:
        return
    if isinstance(inner, str):
        yield inner


def _drop_nulls(content: Any) -> Any:
    match content:
        case dict():
            return {key: _drop_nulls(part) for key, part in content.items() if part is not None}
        case list():
            return [_drop_nulls(part) for part in content]
    return content
