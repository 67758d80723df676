"""Changes in the console: what an answer changed is undone with one button (S1)."""

import json

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_a_created_task_is_undone_under_the_answer_s1(
    console: Console, context: BrowserContext, model: ScriptedOpenai
) -> None:
    arguments = json.dumps({"description": "Buy <b>milk</b>"})
    call = ScriptedCall(name="create_action_item", arguments=arguments)
    console.sign_in("undoer")
    headers = console.sign_in_beside(context, "undoer")
    model.play(Script(tool_calls=(call,)), Script(text="Written down."))

    answer = console.ask("Remind me to buy milk.")
    change = answer.locator(".changes li")
    expect(change).to_contain_text("Created the task “Buy <b>milk</b>”")
    change.get_by_role("button", name="Undo").click()
    expect(change).to_contain_text("Undone")

    listing = context.request.get(f"{console.origin}/v1/action-items", headers=headers).json()
    assert "milk" not in json.dumps(listing)
    console.page.reload()
    expect(console.page.locator(".changes li")).to_contain_text("Undone")
