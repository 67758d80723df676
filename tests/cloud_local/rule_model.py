"""Model without a model: OpenAI's wire format, answered by three rules.

A question is looked up, what was found is quoted, and a schema gets the least that it allows.
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, is_question

SEARCH = "search_conversations"


class RuleModel(ScriptedOpenai):
    """Plays no scripts: `_select_script` follows from the request."""

    def _select_script(self, body: dict[str, Any]) -> Script:
        if "response_format" in body:
            schema = body["response_format"]["json_schema"]["schema"]
            return Script(text=json.dumps(build_least(schema, schema.get("$defs", {}))))
        messages = body["messages"]
        if any(message["role"] == "tool" for message in messages):
            return Script(text="You talked about it [1].")
        names = {tool["function"]["name"] for tool in body.get("tools", ())}
        if SEARCH in names:
            question = next(row for row in reversed(messages) if is_question(row))
            arguments = json.dumps({"query": str(question["content"])[-200:]})
            return Script(tool_calls=(ScriptedCall(name=SEARCH, arguments=arguments, id="call-1"),))
        return Script(text="There is nothing to look up.")


def build_least(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """Build the smallest value that a schema allows."""
    if "$ref" in schema:
        return build_least(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return build_least(schema["anyOf"][-1], definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        parts = schema.get("properties", {}).items()
        return {name: build_least(part, definitions) for name, part in parts}
    if schema.get("type") == "array":
        return [build_least(schema["items"], definitions)] * schema.get("minItems", 0)
    return build_least_scalar(schema)


def build_least_scalar(schema: Mapping[str, Any]) -> Any:
    text = "x" * max(schema.get("minLength", 0), 1)
    least = {"string": text, "boolean": False, "null": None}
    return least.get(schema.get("type", ""), schema.get("minimum", 0))
