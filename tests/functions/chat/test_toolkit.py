"""Toolkit of a turn: the text of a result as the model reads it."""

from collections.abc import Mapping
from typing import Any

import pytest

from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.toolkit import ResultRenderer, Tool, Toolkit, render_fixed
from shared.domain.models.model import ToolCall, ToolSpec
from shared.domain.provenance import LIBRARY, Source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (LIBRARY, '{"text": "see (1), (2, 3) and a[x]"}'),
        (Source(kind="app", id="notes"), '{"text": "see [1], [2, 3] and a[x]"}'),
    ],
    ids=["library", "app"],
)
async def test_only_the_librarys_texts_lose_what_would_seem_to_cite_p4(
    source: Source, expected: str
) -> None:
    async def run(_: Mapping[str, Any], __: str) -> ResultRenderer:
        return render_fixed('{"text": "see [1], [\u200b2, 3] and a[x]"}')

    spec = ToolSpec(name="find", description="", parameters={"type": "object"})
    tool = Tool(spec=spec, status="", run=run, source=source, tool_class="read")
    call = parse_call(ToolCall(id="c1", name="find", arguments="{}"), "run-1")

    [outcome] = await Toolkit([tool], timeout_s=5).run([call])

    assert outcome.text == expected
