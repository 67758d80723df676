"""Tool call of a model with its arguments, parsed once, where the call arrives."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from shared.domain.ids import RunId
from shared.domain.models.model import ToolCall
from shared.domain.value import value
from shared.models.absent_arguments import drop_absent


@value
class ParsedCall:
    """`arguments` is None where the model's text is no JSON object; `error` then says why.

    `request` is the call as the model wrote it and reads it again; `arguments` are those that say
    something: models fill optional ones with null or nothing. `unique_id` names the call
    towards third parties: model APIs may count their ids anew in every cycle.
    """

    request: ToolCall
    unique_id: str
    arguments: Mapping[str, Any] | None
    error: str = ""

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def name(self) -> str:
        return self.request.name


def parse_call(
    request: ToolCall, unique_id: str, parameters: Mapping[str, Any] | None = None
) -> ParsedCall:
    """Parse the arguments of a call, by the `parameters` of its tool where there is one.

    Numbers that JSON does not know are errors.
    """
    try:
        arguments = from_json(request.arguments or "{}", allow_inf_nan=False)
        json.dumps(arguments, allow_nan=False)  # 1e999 is read as an infinity
    except ValueError as error:
        return _to_invalid(
            request, unique_id, f"the arguments of {request.name} are not valid JSON: {error}"
        )
    if not isinstance(arguments, dict):
        return _to_invalid(
            request, unique_id, f"the arguments of {request.name} must be a JSON object."
        )
    given = drop_absent(arguments, parameters) if parameters else arguments
    return ParsedCall(request=request, unique_id=unique_id, arguments=given)


def _to_invalid(request: ToolCall, unique_id: str, error: str) -> ParsedCall:
    return ParsedCall(request=request, unique_id=unique_id, arguments=None, error=error)


def build_unique_id(run_id: RunId, number: int, request: ToolCall) -> str:
    """Name the call `number` of a run, always the same: 64 characters of `[0-9a-f]`.

    The arguments are part of it: a run that begins anew under its id may make another call.
    """
    name = f"{run_id}/{number}/{request.id}/{request.arguments}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
