"""Tool policy of a turn: its work grows no faster than what is read and answered."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from functions.chat.loop.tool_policy import ToolPolicy
from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.toolkit import ResultRenderer, Tool, render_fixed
from shared.domain.models.model import ToolCall, ToolSpec
from shared.domain.provenance import Source


def test_an_answer_may_repeat_thousands_of_addresses_of_a_long_text_s1():
    """Work that read the text again for each address would not end here."""
    urls = [f"https://notes.example/{n:05}" for n in range(4_000)]
    policy = build_policy(own_texts=[" ".join(urls)])

    assert all(map(policy.is_known_url, urls))
    assert not policy.is_known_url("https://notes.example/0000")


async def run_nothing(_: Mapping[str, Any], __: str) -> ResultRenderer:
    return render_fixed("")


async def test_a_maker_is_told_as_much_by_several_models_as_by_one_x31():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    tool = Tool(
        spec=ToolSpec(name="look_up", description="Look up", parameters=schema),
        status="Looking up",
        run=run_nothing,
        source=Source(kind="app", id="A", name="A"),
        tool_class="read",
        maker="developer eve",
    )
    calls = [
        parse_call(ToolCall(id="c", name="look_up", arguments=json.dumps({"q": word})), "u")
        for word in ("xkqzv", "wjybp")
    ]
    main = build_policy()

    together = [
        await main.judge(tool, calls[0]),
        await main.build_sibling().judge(tool, calls[1]),
    ]
    alone = [await build_policy().judge(tool, call) for call in calls]

    assert [verdict.reason for verdict in alone] == [None, None]
    assert [verdict.reason for verdict in together] == [None, "disclosure"]


def build_policy(**texts: Any) -> ToolPolicy:
    return ToolPolicy("What is new?", local_time=datetime(2026, 3, 2, 12, tzinfo=UTC), **texts)
