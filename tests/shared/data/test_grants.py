"""Grants: all decisions of an owner fit into one document."""

from dataclasses import replace

import pytest

from shared.data.chats.grants import Grants
from shared.domain.apps.app import App, ChatTool
from shared.domain.chats.consent import Grant
from shared.domain.ids import AppId, UserId
from shared.ports import Documents
from shared.security.tool_pin import build_grants
from tests.fakes import FixedClock

ADA = UserId("ada")
TOOLS_OF_AN_APP, INSTALLED_APPS = 40, 100


def build_app(name: str) -> App:
    tools = [
        ChatTool(name=f"{name}{n:02}", description="Works", endpoint="https://works.example")
        for n in range(TOOLS_OF_AN_APP)
    ]
    return App(
        id=AppId("LONG"),
        owner=UserId("eve"),
        name="Long",
        created_at=FixedClock().now(),
        chat_tools=tuple(tools),
    )


@pytest.mark.parametrize("name", ["x" * 62, "x" * 254, "\U0001f600" * 254], ids=len)
async def test_the_tools_of_all_apps_fit_into_one_document_s3(documents: Documents, name: str):
    grants, app = Grants(documents), build_app(name)
    pinned = build_grants(app)
    sources = [replace(app.source, id=f"{n:026}") for n in range(INSTALLED_APPS)]

    await grants.add_missing(ADA, {source.key: pinned for source in sources})
    decision = Grant(pin="other", state="always")
    await grants.set_grant(ADA, sources[-1], app.chat_tools[7].name, decision)

    consent = await grants.load(ADA)
    assert consent.find_grant(sources[-1], app.chat_tools[7].name) == decision
    assert consent.find_grant(sources[0], app.chat_tools[7].name) in pinned.values()
    assert consent.find_grant(sources[0], "x") is None
