"""Embeds: the content that a tool returned, put together again."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.chats.embed import Embed, join_content
from shared.domain.ids import EmbedId, MessageId, SessionId
from shared.domain.provenance import LIBRARY

CHILD = Embed(
    id=EmbedId("child"),
    type="record",
    content='{"day": 1}',
    preview="",
    content_hash="",
    length=0,
    session_ids=(SessionId("main"),),
    message_id=MessageId("m1"),
    source=LIBRARY,
    created_at=datetime(2026, 3, 2, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("about", "joined"),
    [
        ({"result": {"city": "Lisbon"}, "list": "days"}, {"city": "Lisbon", "days": [{"day": 1}]}),
        ({"result": "Lisbon", "list": "days"}, [{"day": 1}]),
        ({"result": {"city": "Lisbon"}, "list": 7}, [{"day": 1}]),
        ({"result": {"city": "Lisbon"}}, [{"day": 1}]),
        ("Lisbon", [{"day": 1}]),
    ],
)
def test_children_join_their_list_only_where_a_parent_names_one(about: Any, joined: Any) -> None:
    parent = replace(CHILD, content=json.dumps(about), embed_ids=(CHILD.id,))

    assert join_content(parent, [CHILD]) == joined
