"""Validation sentences: what people read when a route refuses what was sent."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import AwareDatetime, Field, ValidationError

from infra.openapi import list_public_routes
from shared.data.store.codec import type_adapter
from shared.edge.declare.schemas import ID_PATTERN, Wire
from shared.edge.serve.bodies import build_validation_problem

QUOTED = re.compile(r"“[^”]*”|'[^']*'")
MACHINE_TEXT = re.compile(r"\w_\w|_at\b|\d{4}-\d\d-\d\dT|[\\^$\[\]{}<>]|\b[a-z]+[A-Z]\w*|\bnull\b")
WRONG_VALUES: tuple[Any, ...] = (
    None, "", " ", "x" * 30_000, "no such thing", -1e15, 1e15, 0.5, True, [], {}, [None], [{}],
    ["x" * 30_000], ["x"] * 1_200, {"x": []}, "1700-01-01T00:00:00", "2026-03-02T09:00:00",
)  # fmt: skip
MODELS = {
    f"{public.row.method} {public.row.path} {kind}": model
    for public in list_public_routes()
    for kind, model in (("body", public.row.body), ("query", public.row.query))
    if model not in (None, bytes)
}


class Entry(Wire):
    text: Annotated[str, Field(min_length=1, max_length=5)] = "x"
    due_at: AwareDatetime | None = None


class Sample(Wire):
    title: Annotated[str, Field(max_length=200)] = ""
    entries: list[Entry] = Field(default=[Entry()], min_length=1, max_length=2)
    limit: Annotated[int, Field(ge=1, le=50)] = 1
    is_done: bool = False
    owner: Literal["me", "other"] = "me"
    app_id: Annotated[str, Field(pattern=ID_PATTERN)] = "a"


class Required(Wire):
    folder_id: str


def list_faults(model: Any, value: Any) -> ValidationError | None:
    try:
        type_adapter(model).validate_json(json.dumps(value))
    except ValidationError as error:
        return error
    return None


def read_sentence(error: ValidationError) -> str:
    detail: str = json.loads(bytes(build_validation_problem(error).body))["detail"]
    return detail


@pytest.mark.parametrize(
    ("model", "value", "sentence"),
    [
        (Sample, {"title": "x" * 312}, "The title must be at most 200 characters long; it has 312."),
        (Sample, {"title": 7}, "The title must be text."),
        (Sample, {"entries": []}, "The entries must not be empty."),
        (Sample, {"entries": [{}] * 3}, "The entries must have at most 2 entries; there are 3."),
        (Sample, {"entries": [{}, {"text": ""}]}, "The text in entry 2 of the entries must not be empty."),
        (
            Sample,
            {"entries": [{"due_at": "2026-03-02T09:00:00"}]},
            "The due time in entry 1 of the entries must be a date and time with its time zone.",
        ),
        (Sample, {"limit": 51}, "The limit must be at most 50."),
        (Sample, {"limit": "many"}, "The limit must be a whole number."),
        (Sample, {"is_done": "perhaps"}, "The done must be true or false."),
        (Sample, {"owner": "you"}, "The owner must be 'me' or 'other'."),
        (Sample, {"app_id": "a b"}, "The app id must be 1 to 64 letters, digits, hyphens or underscores."),
        (Sample, [], "The request must be an object with named fields."),
        (Required, {}, "The folder id must be given."),
    ],
)  # fmt: skip
def test_a_fault_is_one_sentence_u8(model: type[Wire], value: Any, sentence: str) -> None:
    error = list_faults(model, value)

    assert error is not None
    assert read_sentence(error) == sentence


@pytest.mark.parametrize("name", MODELS)
def test_no_route_answers_with_machine_text_u8(name: str) -> None:
    faults = [
        fault
        for value in list_wrong_values(MODELS[name])
        if (fault := list_faults(MODELS[name], value))
    ]

    for fault in faults:
        sentence = read_sentence(fault)
        assert not MACHINE_TEXT.search(QUOTED.sub("", sentence)), sentence
        assert fault.errors()[0]["msg"] not in sentence
        assert sentence[0].isupper()
        assert sentence.endswith(".")


def list_wrong_values(model: Any) -> Iterator[Any]:
    """List wrong bodies: each field in turn is wrong in many ways, those of its entries too."""
    schema = type_adapter(model).json_schema()
    yield from WRONG_VALUES
    yield from spoil(schema, schema.get("$defs", {}), depth=0)


def spoil(schema: dict[str, Any], models: dict[str, Any], *, depth: int) -> Iterator[Any]:
    if depth > 3:
        return
    for name, field in schema.get("properties", {}).items():
        yield from ({name: value} for value in WRONG_VALUES)
        for kind in [field, *field.get("anyOf", [])]:
            for part in find_models(kind, models):
                entries = spoil(part, models, depth=depth + 1)
                yield from ({name: [entry] if "items" in kind else entry} for entry in entries)


def find_models(kind: dict[str, Any], models: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for place in (kind, kind.get("items", {})):
        if "$ref" in place:
            yield models[place["$ref"].rpartition("/")[2]]
