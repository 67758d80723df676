"""Rules of the owner: kept, bounded, and in the prompt of every answer (C61, C69)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.tools.rule_tools import build_rule_tools
from shared.domain.chats.rule import (
    MAX_ACTIVE,
    MAX_ARCHIVED,
    Rule,
    Rules,
    add_rule,
    archive_rule,
    change_rule,
    list_active,
    remove_rule,
)
from shared.domain.errors import Invalid, NotFound, ToolRefused
from shared.domain.ids import MessageId, RuleId
from tests.fakes import FixedClock, ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_focus import list_system_texts
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_turn import build_app

NOW = FixedClock().now()
PATH = "/v2/rules"


def build_rule(number: int) -> Rule:
    return Rule(
        id=RuleId(f"r{number}"),
        text=f"Rule number {number}.",
        created_at=NOW + timedelta(seconds=number),
    )


def build_rules(count: int) -> Rules:
    rules: Rules = ()
    for number in range(count):
        rules = add_rule(rules, build_rule(number), NOW + timedelta(seconds=number))
    return rules


def test_the_21st_archives_the_oldest_c61() -> None:
    rules = build_rules(MAX_ACTIVE + 1)

    assert [rule.id for rule in rules if not rule.is_active] == ["r0"]
    assert len(list_active(rules)) == MAX_ACTIVE


@given(st.lists(st.tuples(st.sampled_from(["add", "archive", "remove"]), st.integers(0, 60))))
def test_there_are_never_more_than_the_limits_nor_one_twice_c61(
    steps: list[tuple[str, int]],
) -> None:
    rules: Rules = ()
    for second, (act, number) in enumerate(steps):
        now = NOW + timedelta(seconds=second)
        try:
            if act == "add":
                rules = add_rule(rules, build_rule(number), now)
            elif act == "archive":
                rules = archive_rule(rules, f"r{number}", now)
            else:
                rules = remove_rule(rules, f"r{number}")
        except NotFound:
            continue
        assert len(list_active(rules)) <= MAX_ACTIVE
        assert len(rules) - len(list_active(rules)) <= MAX_ARCHIVED
        assert len({rule.text for rule in rules}) == len({r.id for r in rules}) == len(rules)


def test_one_that_is_said_again_is_in_force_again_c61() -> None:
    archived = archive_rule(build_rules(2), "r0", NOW)

    again = add_rule(archived, build_rule(0), NOW)

    assert [rule.id for rule in list_active(again)] == ["r1", "r0"]
    assert add_rule(again, build_rule(1), NOW) == again


@pytest.mark.parametrize("text", ["word " * 25, "w" * 281])
def test_a_long_one_is_refused_c61(text: str) -> None:
    rule = Rule(id=RuleId("r1"), text=text, created_at=NOW)

    with pytest.raises(Invalid, match="at most 24 words and 280 characters"):
        add_rule((), rule, NOW)
    with pytest.raises(Invalid):
        change_rule((build_rule(1),), "r1", text)


async def test_they_are_written_changed_and_deleted_by_hand_c61(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        rule = (await http.post(PATH, json={"text": " Be  brief. "})).json()
        same = (await http.post(PATH, json={"text": "be brief"})).json()
        changed = (await http.patch(f"{PATH}/{rule['id']}", json={"text": "Be long."})).json()
        long = await http.post(PATH, json={"text": "word " * 25})
        listed = (await http.get(PATH)).json()
    async with open_chat(world.deps(), EVE) as http:
        foreign = [
            (await http.patch(f"{PATH}/{rule['id']}", json={"text": "x"})).status_code,
            (await http.delete(f"{PATH}/{rule['id']}")).status_code,
            (await http.get(PATH)).json(),
        ]
    async with open_chat(world.deps()) as http:
        deleted = await http.delete(f"{PATH}/{rule['id']}")
        left = (await http.get(PATH)).json()

    assert (rule["text"], same["id"], changed["text"]) == ("Be brief.", rule["id"], "Be long.")
    assert long.status_code == 422
    assert listed == [changed]
    assert foreign == [404, 404, []]
    assert (deleted.status_code, left) == (200, [])


async def add_rules(world: ChatFixture, *texts: str) -> None:
    async with open_chat(world.deps()) as http:
        for text in texts:
            assert (await http.post(PATH, json={"text": text})).status_code == 200


async def test_every_answer_is_told_them_also_while_recall_is_paused_c69(
    world: ChatFixture,
) -> None:
    await add_rules(world, "Be brief.", "Use metric units.")
    await world.deps().stores.profiles.change(ADA, recalls_memories=False)
    with ScriptedModel(script_answer("Hi."), script_answer("Hi.")) as model:
        deps = world.deps(model)
        await ask(deps, {"text": "Hello"})
        await ask(deps, {"text": "Hello again"})

    for call in (0, 1):
        assert list_system_texts(model, call)[-1].endswith("\n- Be brief.\n- Use metric units.")


async def test_a_persona_is_not_told_them_c54(world: ChatFixture) -> None:
    await add_rules(world, "Be brief.")
    persona = build_app(world, persona_prompt="You are a poet.")
    await world.deps().stores.apps.create(persona)
    with ScriptedModel(script_answer("Roses.")) as model:
        await ask(world.deps(model), {"text": "Hello"}, app_id=persona.id)

    assert "Be brief." not in str(model.calls[0].messages)


async def save(world: ChatFixture, question: str, **arguments: Any) -> None:
    """Let the model ask for a rule, and its owner confirm it."""
    with ScriptedModel(
        script_calls(("save_rule", arguments)), script_answer("Shall I?"), script_answer("Done.")
    ) as model:
        deps = world.deps(model)
        for text in (question, "yes"):
            world.clock.advance(seconds=5)
            await ask(deps, {"text": text})


async def test_the_assistant_keeps_one_that_the_owner_said_and_confirms_c61(
    world: ChatFixture,
) -> None:
    await save(
        world,
        "From now on answer me in one sentence",
        text="Answer in one sentence.",
        user_quote="answer me in one sentence",
    )

    (rule,) = (await world.deps().stores.profiles.get(ADA)).rules
    assert (rule.text, rule.quote) == ("Answer in one sentence.", "answer me in one sentence")
    assert rule.message_id is not None


async def test_words_that_the_owner_did_not_write_make_no_rule_c61(world: ChatFixture) -> None:
    save_tool, *_ = build_rule_tools(world.deps(), ADA, (), {MessageId("m1"): "Hello there"})

    with pytest.raises(ToolRefused, match="did not write"):
        await save_tool.run({"text": "Send all mail.", "user_quote": "send all mail"}, "call-1")
    with pytest.raises(ToolRefused, match="at most 24 words"):
        await save_tool.run({"text": "w " * 30, "user_quote": "hello there"}, "call-1")


async def test_a_rule_that_its_quotation_does_not_prove_rests_on_the_owners_yes_c61(
    world: ChatFixture,
) -> None:
    await save(
        world,
        "What did Eve say about the door?",
        text="Open the door for Eve.",
        user_quote="What did Eve say",
    )
    torn, *_ = build_rule_tools(world.deps(), ADA, (), {MessageId("m1"): "what did I say"})

    (rule,) = (await world.deps().stores.profiles.get(ADA)).rules
    assert (rule.quote, rule.message_id) == ("", None)
    with pytest.raises(ToolRefused, match="did not write"):
        await torn.run({"text": "Open for Eve.", "user_quote": "at di"}, "call-1")


async def test_the_assistant_drops_one_when_asked_c61(world: ChatFixture) -> None:
    await add_rules(world, "Be brief.", "Be kind.")
    with ScriptedModel(
        script_calls(("drop_rule", {"text": "be brief"}), ("drop_rule", {"text": "Be rude."})),
        script_answer("Shall I?"),
        script_answer("Done."),
    ) as model:
        for text in ("You may write at length again", "yes"):
            world.clock.advance(seconds=5)
            await ask(world.deps(model), {"text": text})

    rules = (await world.deps().stores.profiles.get(ADA)).rules
    assert [rule.text for rule in list_active(rules)] == ["Be kind."]
