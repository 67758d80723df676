"""Live words for apps: sent only after a grant by name, counted, shown, and answered (L3)."""

import json
from dataclasses import replace

import pytest

from shared.data.account.model_usage import list_days
from shared.data.account.quotas import Quotas
from shared.domain.models.model import Usage
from shared.library.webhook_tasks import queue_live_words
from shared.model_meter import record_model_call
from tests.fakes import ScriptedModel, UnmaskedModels
from tests.fixtures.tool_proxy import ALICE
from tests.fixtures.webhooks import DIARY, TALK
from tests.functions.tool_proxy.test_developer_webhooks import deliver_due

LIVE = {"triggers_on": "memory_creation,transcript_processed"}


async def enable(fixture, **params):
    path = "/v1/apps/enable"
    await fixture.world.request("POST", path, uid=ALICE, params={"app_id": DIARY, **params})


async def send(fixture, *batches):
    for batch in batches:
        await queue_live_words(fixture.world.tasks, ALICE, [DIARY], TALK, batch)
    await deliver_due(fixture)
    await deliver_due(fixture)
    fixture.world.tasks.created.clear()


async def list_notices(fixture):
    page = await fixture.world.deps.stores.inbox.list_delivered(ALICE, limit=10)
    return [notice.title for notice in page.items]


async def test_an_app_hears_live_words_only_once_its_user_granted_that_by_name_l3(fixture):
    await fixture.integrate(**LIVE)
    await fixture.say_live("Hello.", "I like tea.", "Bye.")
    await enable(fixture)
    await enable(fixture)
    await send(fixture, "said-0")
    unheard = [*fixture.hook.received]
    await enable(fixture, permissions="hear_conversations,hear_live_words")
    await enable(fixture)
    await send(fixture, "said-1")
    await enable(fixture, permissions="hear_conversations")
    await send(fixture, "said-2")

    [(headers, query, body)] = fixture.hook.received
    assert unheard == []
    assert (query, headers["content-type"]) == ("uid=alice", "application/json")
    payload = json.loads(body)
    assert payload.keys() == {"session_id", "segments"}
    assert payload["session_id"] == ALICE
    assert [segment["text"] for segment in payload["segments"]] == ["I like tea."]
    assert (await list_notices(fixture)).count("Diary asks to hear you live") == 1


async def test_a_user_who_was_shown_what_an_app_asks_for_is_not_told_again_l3(fixture):
    await fixture.integrate(**LIVE)
    await enable(fixture, permissions="hear_conversations")
    untold = await list_notices(fixture)
    await enable(fixture)

    assert untold == []
    assert await list_notices(fixture) == ["Diary asks to hear you live"]


async def test_live_words_are_counted_for_their_user_and_answered_l3(fixture):
    await fixture.integrate(**LIVE)
    await fixture.say_live("Hello.", "Bye.")
    await enable(fixture, permissions="hear_live_words")
    await send(fixture, "said-0", "said-1")

    sent = (await fixture.world.request("GET", "/v1/apps/live-listeners", uid=ALICE)).json()
    usage = await fixture.world.deps.quotas.load_usage(ALICE, fixture.world.clock.now())
    assert [(each["app_id"], each["lines"], each["sound_s"]) for each in sent] == [(DIARY, 2, 0)]
    assert usage["live_calls"] >= 2
    assert (await list_notices(fixture)).count("Diary says") == 2


async def test_no_live_words_are_sent_beyond_the_quota_l3(fixture):
    quotas = Quotas(fixture.world.documents, {"live_calls": 1})
    fixture.world.deps = replace(fixture.world.deps, quotas=quotas)
    await fixture.integrate(**LIVE)
    await fixture.say_live("Hello.", "Bye.")
    await enable(fixture, permissions="hear_live_words")
    await send(fixture, "said-0", "said-1")

    assert len(fixture.hook.received) == 1


WRITTEN = "process_conversation/proactive_notification"
ASKED = {"prompt": "Cheer them up.", "params": ["user_name", "user_facts"]}


async def let_write(fixture, *texts, granted="hear_live_words,write_notifications"):
    """Let Alice allow the diary to have notifications written, which the model plays; return the model."""
    model = MeteredModel(answers={WRITTEN: [{"text": text} for text in texts]})
    fixture.world.deps = replace(fixture.world.deps, model=UnmaskedModels(model=model))
    fixture.hook.answer = json.dumps({"notification": ASKED}).encode()
    capabilities = ("external_integration", "proactive_notification")
    await fixture.change(capabilities=capabilities, proactive_scopes=("user_name",))
    await fixture.integrate(**LIVE)
    await fixture.world.deps.stores.profiles.change(ALICE, name="Alice Ames")
    await enable(fixture, permissions=granted)
    await fixture.say_live("Hello.", "I am tired.", "Bye.")
    return model


class MeteredModel(ScriptedModel):
    """Counts its calls as the models of providers do."""

    async def complete_structured(self, role, prompt, schema):
        record_model_call(role, Usage(output_tokens=40))
        return await super().complete_structured(role, prompt, schema)


async def list_written(fixture):
    page = await fixture.world.deps.stores.inbox.list_delivered(ALICE, limit=10)
    return [notice.body for notice in page.items if notice.title == "Diary says"]


async def test_a_notification_is_written_for_an_app_once_in_five_minutes_l3(fixture):
    model = await let_write(fixture, "Rest, Alice: https://evil.example/x " + "z" * 200, "Hi.")
    await send(fixture, "said-0", "said-1")
    early = await list_written(fixture)
    fixture.world.clock.advance(seconds=300)
    await send(fixture, "said-2")

    [(_, prompt), _] = model.prompts
    assert prompt.data.keys() == {"app", "request", "language", "user_name"}
    assert (prompt.data["request"], prompt.data["user_name"]) == ("Cheer them up.", "Alice Ames")
    assert [len(text) for text in early] == [150]
    assert "https://evil" not in early[0]
    assert sorted(map(len, await list_written(fixture))) == [3, 150]
    [day] = await list_days(fixture.world.deps.quotas, ALICE, fixture.world.clock.now(), days=1)
    assert (day.models["fast"].calls, day.models["fast"].output_tokens) == (2, 80)


@pytest.mark.parametrize(
    ("triggers", "asks"), [("transcript_processed", True), ("memory_creation", False)]
)
async def test_only_an_app_that_hears_live_words_asks_to_have_notifications_written_l3(
    fixture, triggers, asks
):
    capabilities = ("external_integration", "proactive_notification")
    await fixture.change(capabilities=capabilities)
    await fixture.integrate(triggers_on=triggers)

    app = await fixture.world.request("GET", f"/v1/apps/{DIARY}", uid=ALICE)
    assert ("write_notifications" in app.text) == asks


async def test_no_notification_is_written_without_a_grant_of_that_name_or_a_reason_l3(fixture):
    refused = await let_write(fixture, granted="hear_live_words")
    await send(fixture, "said-0")
    silent = await let_write(fixture, "")
    await send(fixture, "said-1")
    fixture.hook.answer = b'{"notification": {"prompt": 5}}'
    await send(fixture, "said-2")

    assert (refused.prompts, len(silent.prompts)) == ([], 1)
    assert await list_written(fixture) == []
