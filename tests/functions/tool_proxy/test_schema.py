"""Arguments against schemas of strangers."""

from functions.tool_proxy.calls.schema import complaint


def test_t5_a_wrong_argument_is_named_with_its_place():
    schema = {"properties": {"day": {"properties": {"name": {"enum": ["mon"]}}}}}

    assert complaint(schema, {"day": {"name": "sun"}}) == "$.day.name: 'sun' is not one of ['mon']"


def test_a_pattern_that_would_take_forever_is_not_run():
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}

    assert complaint(schema, {"a": "a" * 60 + "!"}) is None
