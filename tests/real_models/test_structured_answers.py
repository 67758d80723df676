"""Structured answers: what a real server is shown is all that a model is ever asked for."""

import ast
from collections.abc import Iterator

from infra.local.routing import ROOT
from tests.real_models.structured_answers import SUFFIX, list_answer_schemas


def list_asked_schemas() -> Iterator[str]:
    """List the classes that stand in calls as the schema of an answer; variables are written small."""
    for file in (ROOT / "functions").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call):
                named = [each.value for each in call.keywords if each.arg == "schema"]
                is_asked = ast.unparse(call.func).endswith("complete_structured")
                yield from map(ast.unparse, [*named, *(call.args[2:3] if is_asked else [])])


def test_every_class_that_models_fill_in_is_shown_to_a_real_server() -> None:
    asked = {name for name in list_asked_schemas() if name[0].isupper()}

    assert len(asked) > 8
    assert {name for name in asked if not name.endswith(SUFFIX)} == set()
    assert asked <= {schema.__name__ for schema in list_answer_schemas()}
