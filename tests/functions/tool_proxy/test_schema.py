"""Schema validation of arguments."""

from functions.tool_proxy.calls.schema import validate_arguments


def test_an_invalid_argument_is_reported_with_its_json_path_t5():
    schema = {"properties": {"day": {"properties": {"name": {"enum": ["mon"]}}}}}

    assert (
        validate_arguments(schema, {"day": {"name": "sun"}})
        == "$.day.name: 'sun' is not one of ['mon']"
    )


def test_regex_patterns_of_a_schema_are_not_evaluated():
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}

    assert validate_arguments(schema, {"a": "a" * 60 + "!"}) is None
