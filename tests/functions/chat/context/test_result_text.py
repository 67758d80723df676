"""Result text: tables cost a model fewer tokens, and no data costs more than JSON (M111, M112)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toon_format import decode, encode

from functions.chat.context.result_text import write_for_model
from shared.domain.apps.tool_data import ToolData, to_compact_json
from shared.domain.models.tokens import estimate_tokens

FIXTURES = Path(__file__).parents[3] / "recorded" / "toon"
CASES = [
    case
    for path in sorted(FIXTURES.glob("*.json"))
    for case in json.loads(path.read_text())["tests"]
]
"""The encoder's conformance fixtures of the TOON specification."""
OPTIONS = {"delimiter": "delimiter", "indent": "indent_size", "indentSize": "indent_size"}
ROWS = [
    {
        "id": 1000 + n,
        "city": ("Porto", "Lisbon", "Faro", "Évora")[n % 4],
        "date": f"2026-03-{n % 28 + 1:02}",
        "price_eur": 40 + n * 3.5,
        "available": n % 3 == 0,
    }
    for n in range(40)
]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["", "true", "null", "1", "-", "[2]{a,b}:", "a: b", "<data>", "</data>", "a\nb", "1e9", " x "]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | TEXTS
CONTENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS, inner, max_size=4)
        | st.lists(st.fixed_dictionaries({"a": SCALARS, "b b": SCALARS}), max_size=4)
    ),
    max_leaves=20,
).filter(lambda content: isinstance(content, dict | list))


def read(text: str) -> Any:
    """Read what a model is given, in whichever form it is."""
    try:
        return json.loads(text)
    except ValueError:
        return decode(text)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_encoder_conforms_to_the_specification_m111(case):
    options = {OPTIONS[name]: chosen for name, chosen in case.get("options", {}).items()}

    assert encode(case["input"], **options) == case["expected"]


@given(content=CONTENTS)
@example(content=[{"a\nb": "<data>"}, {"a\nb": "</data>"}])
@example(content={"n": 10**40})
def test_any_data_is_read_back_equal_and_costs_no_more_than_json_m111(content):
    text = write_for_model(ToolData(content=content))

    assert read(text) == content
    assert estimate_tokens(text) <= estimate_tokens(to_compact_json(content))


def test_a_table_of_40_rows_costs_at_least_35_percent_fewer_tokens_m111():
    as_json = estimate_tokens(to_compact_json({"flights": ROWS}))
    tokens = estimate_tokens(write_for_model(ToolData(content={"flights": ROWS})))

    saved = 1 - tokens / as_json
    print(f"{as_json} tokens as JSON, {tokens} as the model reads it: {saved:.0%} fewer")  # noqa: T201 - the figure of the row
    assert saved >= 0.35


@pytest.mark.parametrize("content", ["plain: text", "[2]{a,b}:\n  1,2", "", '{"a": 1}'])
def test_text_stays_as_it_is_m111(content):
    assert write_for_model(ToolData(content=content)) == content


def test_what_toon_cannot_write_is_json_m111():
    assert write_for_model(ToolData(content={"half": "\ud83d"})) == '{"half":"\ud83d"}'


def test_hidden_fields_are_not_for_the_model_at_any_depth_m112():
    content = {"rows": [{"id": 1, "raw": "SECRET"}, {"id": 2, "raw": {"id": "SECRET"}}], "raw": 0}
    data = ToolData(content=content, hidden_fields=("raw",))

    assert read(write_for_model(data)) == {"rows": [{"id": 1}, {"id": 2}]}
    assert "SECRET" not in write_for_model(data) + data.visible_text
    assert data.content == content
