"""T18: which apps hear of a processed conversation, what they get, and what happens when they do not take it."""

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient, Response
from standardwebhooks import Webhook, WebhookVerificationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response as Served
from starlette.routing import Route

from functions.tool_proxy.webhooks.delivery import ATTEMPTS, DELAYS, Told, announce, deliver
from functions.tool_proxy.webhooks.endpoints import ANNOUNCE, DELIVER
from shared.adapters.guarded_egress import GuardedEgress
from shared.data.codec import dump
from shared.data.conversations import conversation_path
from shared.domain.app import (
    App,
    AppCall,
    CallKind,
    ExternalIntegration,
    InstalledApp,
    RetiredSecret,
    SwitchedOff,
)
from shared.domain.conversation import Conversation, Segment, Speaker, Structured, content_hash
from shared.domain.documents import Delete, Set
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, ConversationId, PersonId, UserId
from shared.edge.http import application
from tests.faults import Faulty, error, lost, timeout
from tests.functions.tool_proxy.world import ALICE, World
from tests.servers import running

TALK = ConversationId("talk")
DIARY = AppId("01DIARY")
SECRET = "whsec_" + "c2VjcmV0" * 5
OLD_SECRET = "whsec_" + "b2xkb2xk" * 5


@dataclass
class Hook:
    """An app's webhook: remembers what came, and answers by `statuses`, the last for ever."""

    statuses: list[int] = field(default_factory=lambda: [200])
    heard: list[tuple[dict[str, str], str, bytes]] = field(default_factory=list)
    url: str = ""
    answer: bytes = b'{"message": "Noted, thank you."}'
    encoding: str = "identity"

    async def receive(self, request: Request) -> Served:
        body = await request.body()
        self.heard.append((dict(request.headers), request.url.query, body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return Served(self.answer, status, {"content-encoding": self.encoding})


@dataclass
class Hooked:
    """A world in which Alice had a conversation and installed a diary that wants to hear of it."""

    world: World
    hook: Hook
    said: Conversation

    @property
    def told(self) -> Told:
        return Told(
            uid=ALICE,
            app_id=DIARY,
            conversation_id=TALK,
            content_hash=content_hash(self.said),
        )

    async def announce(self, uid: UserId = ALICE) -> list[dict[str, Any]]:
        await announce(self.world.deps, uid, TALK, content_hash(self.said))
        return self.due()

    def due(self) -> list[dict[str, Any]]:
        created = self.world.tasks.created.values()
        return [dict(body) for target, body in created if target == "deliver_webhook"]

    async def change(self, **changes: Any) -> None:
        await self.world.deps.apps.revise(DIARY, lambda app: replace(app, **changes))

    async def integrate(self, **changes: Any) -> None:
        app = await self.world.deps.apps.get(DIARY)
        await self.change(external_integration=replace(app.external_integration, **changes))

    async def write(self, conversation: Conversation) -> None:
        path = conversation_path(ALICE, TALK)
        await self.world.documents.write(Set(path, dump(conversation)))

    async def log(self) -> list[tuple[bool, str | None]]:
        entries = await self.world.deps.calls.newest(
            DIARY, since=self.world.clock.now() - timedelta(days=7), limit=50
        )
        return [(one.failed, one.error) for one in reversed(entries) if one.kind == "webhook"]


@pytest.fixture
async def hooked(world):
    hook = Hook()
    app = Starlette(routes=[Route("/hook", hook.receive, methods=["POST"])])
    with running(app) as url:
        hook.url = f"{url}/hook"
        now = world.clock.now()
        world.deps = replace(world.deps, egress=GuardedEgress(dev_origins=[url]))
        diary = App(
            id=DIARY,
            owner=UserId("dev"),
            name="Diary",
            created_at=now,
            private=False,
            signing_secret=SECRET,
            external_integration=ExternalIntegration(
                triggers_on="memory_creation", webhook_url=hook.url
            ),
        )
        said = Conversation(
            id=TALK,
            created_at=now,
            started_at=now,
            finished_at=now + timedelta(minutes=5),
            status="completed",
            structured=Structured(title="Launch", overview="It moved."),
            transcript_segments=(
                Segment(text="The launch moved. 🚀", speaker="Ann", end=2.0),
                Segment(text="Good.", speaker="SPEAKER_01", is_user=True, start=2.0, end=3.0),
            ),
        )
        await world.deps.apps.create(diary)
        await world.deps.installed_apps.add(ALICE, InstalledApp.of(diary, now))
        found = Hooked(world, hook, said)
        await found.write(said)
        yield found


async def test_t18_an_app_that_wants_to_hear_gets_one_task_however_often_it_is_announced(hooked):
    await hooked.announce()

    [due] = await hooked.announce()

    assert due == {**dump(hooked.told)}


@pytest.mark.parametrize(
    "changes",
    [
        {"triggers_on": None},
        {"triggers_on": "transcript_processed"},
        {"webhook_url": None},
        {"webhook_url": ""},
    ],
)
async def test_t18_an_app_that_declared_nothing_is_not_told(hooked, changes):
    await hooked.integrate(**changes)

    assert await hooked.announce() == []


async def test_t18_an_app_that_is_switched_off_is_not_told(hooked):
    await hooked.change(switched_off=SwitchedOff(at=hooked.world.clock.now(), reason="down"))

    assert await hooked.announce() == []


async def test_t18_an_app_that_became_private_is_not_told_of_others(hooked):
    await hooked.change(private=True)

    assert await hooked.announce() == []


async def test_t18_a_user_who_did_not_install_the_app_is_not_told_of(hooked):
    assert await hooked.announce(UserId("bob")) == []


async def test_t18_a_delivery_is_the_old_products_body_signed_and_named_by_its_content(hooked):
    await deliver(hooked.world.deps, hooked.told)

    [(headers, query, body)] = hooked.hook.heard
    told = Webhook(SECRET).verify(body, headers)
    assert query == "uid=alice"
    assert headers["webhook-id"] == hooked.told.id
    assert headers["content-type"] == "application/json"
    assert told["id"] == TALK
    assert told["created_at"] == hooked.said.created_at.isoformat()
    assert told["structured"]["title"] == "Launch"
    assert told["transcript_segments"][0] == {
        "text": "The launch moved. 🚀",
        "speaker": "Ann",
        "speaker_id": 0,
        "is_user": False,
        "person_id": None,
        "start": 0.0,
        "end": 2.0,
    }
    assert (told["status"], told["discarded"], told["plugins_results"]) == ("completed", False, [])
    assert await hooked.log() == [(False, None)]


async def test_t18_both_secrets_sign_while_they_are_exchanged(hooked):
    until = hooked.world.clock.now() + timedelta(hours=1)
    await hooked.change(retired_secret=RetiredSecret(secret=OLD_SECRET, until=until))
    await deliver(hooked.world.deps, hooked.told)

    [(headers, _, body)] = hooked.hook.heard

    assert Webhook(SECRET).verify(body, headers)["id"] == TALK
    assert Webhook(OLD_SECRET).verify(body, headers)["id"] == TALK
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "b3RoZXJz" * 5).verify(body, headers)


async def test_t18_an_address_with_a_query_keeps_it(hooked):
    await hooked.integrate(webhook_url=f"{hooked.hook.url}?token=a%20b")

    await deliver(hooked.world.deps, hooked.told)

    assert hooked.hook.heard[0][1] == "token=a%20b&uid=alice"


async def test_t18_every_attempt_carries_the_same_id_and_body(hooked):
    hooked.hook.statuses = [500, 503, 200]
    told = hooked.told

    for attempt in (1, 2, 3):
        await deliver(hooked.world.deps, replace(told, attempt=attempt))

    assert {headers["webhook-id"] for headers, _, _ in hooked.hook.heard} == {told.id}
    assert len({body for _, _, body in hooked.hook.heard}) == 1
    assert [body["attempt"] for body in hooked.due()] == [2, 3]
    assert await hooked.log() == [(True, "HTTP 500"), (True, "HTTP 503"), (False, None)]


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 408, 409, 429, 500, 503])
async def test_t18_whatever_is_no_success_comes_again(hooked, status):
    hooked.hook.statuses = [status]

    await deliver(hooked.world.deps, hooked.told)

    assert [body["attempt"] for body in hooked.due()] == [2]
    assert await hooked.log() == [(True, f"HTTP {status}")]


@pytest.mark.parametrize(("status", "next_attempts"), [(200, []), (500, [2])])
@pytest.mark.parametrize(
    ("answer", "encoding"), [(b"x" * 2_000_000, "identity"), (b"no gzip", "gzip"), (b"x", "br")]
)
async def test_t18_only_the_status_says_whether_it_arrived(
    hooked, status, next_attempts, answer, encoding
):
    hooked.hook.statuses = [status]
    hooked.hook.answer, hooked.hook.encoding = answer, encoding

    await deliver(hooked.world.deps, hooked.told)

    assert [body["attempt"] for body in hooked.due()] == next_attempts


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://169.254.169.254/hook", "The address must start with https://."),
        ("https://127.0.0.1/hook", "The host must be a public DNS name, not an IP address or a local name."),
        ("nonsense", "The address is not a plain http(s) URL."),
    ],
)  # fmt: skip
async def test_t18_t10_the_guard_judges_where_webhooks_go(hooked, url, error):
    await hooked.integrate(webhook_url=url)

    await deliver(hooked.world.deps, hooked.told)

    assert hooked.hook.heard == []
    assert await hooked.log() == [(True, error)]


async def test_t18_after_the_last_attempt_its_developer_reads_that_it_was_given_up(hooked):
    hooked.hook.statuses = [500]

    for attempt in range(1, ATTEMPTS + 1):
        await deliver(hooked.world.deps, replace(hooked.told, attempt=attempt))

    assert [body["attempt"] for body in hooked.due()] == list(range(2, ATTEMPTS + 1))
    assert (await hooked.log())[-1] == (True, f"given up after {ATTEMPTS} attempts: HTTP 500")


@pytest.mark.parametrize("fault", [error, timeout, lost])
async def test_t18_a_next_attempt_that_may_not_be_queued_lets_this_one_come_again(hooked, fault):
    hooked.hook.statuses = [500, 200]
    tasks = Faulty(hooked.world.tasks, create=[fault])
    deps = replace(hooked.world.deps, tasks=tasks)

    with pytest.raises(Unavailable):
        await deliver(deps, hooked.told)
    await deliver(deps, hooked.told)

    assert {headers["webhook-id"] for headers, _, _ in hooked.hook.heard} == {hooked.told.id}
    assert len(hooked.hook.heard) == 2


@pytest.mark.parametrize("fault", [error, timeout])
@pytest.mark.parametrize("port", ["apps", "installed_apps", "conversations"])
async def test_t18_nothing_is_sent_while_the_store_does_not_answer(hooked, port, fault):
    methods = {"apps": "get_many", "installed_apps": "get", "conversations": "get"}
    store = Faulty(getattr(hooked.world.deps, port), **{methods[port]: [fault]})
    deps = replace(hooked.world.deps, **{port: store})

    with pytest.raises(Unavailable):
        await deliver(deps, hooked.told)
    assert hooked.hook.heard == []
    await deliver(deps, hooked.told)

    assert len(hooked.hook.heard) == 1


@pytest.mark.parametrize("fault", [error, timeout, lost])
async def test_t18_a_log_that_is_down_makes_no_delivery_come_again(hooked, fault):
    deps = replace(hooked.world.deps, calls=Faulty(hooked.world.deps.calls, add=[fault]))

    await deliver(deps, hooked.told)

    assert (len(hooked.hook.heard), hooked.due()) == (1, [])


async def test_t18_every_app_that_wants_to_hear_has_a_task_of_its_own(hooked):
    now = hooked.world.clock.now()
    journal = replace(await hooked.world.deps.apps.get(DIARY), id=AppId("02JOURNAL"))
    await hooked.world.deps.apps.create(journal)
    installed = InstalledApp.of(journal, now)
    await hooked.world.deps.installed_apps.add(ALICE, installed)

    due = await hooked.announce()

    assert [body["app_id"] for body in due] == [DIARY, journal.id]


async def test_t18_an_app_that_wants_to_hear_since_later_waits_for_its_users_consent(hooked):
    apps, diary = hooked.world.deps.installed_apps, await hooked.world.deps.apps.get(DIARY)
    now = hooked.world.clock.now()
    quiet = replace(diary, external_integration=ExternalIntegration())
    await apps.add(ALICE, InstalledApp.of(quiet, now))
    early = await hooked.announce()
    await deliver(hooked.world.deps, hooked.told)
    unheard = list(hooked.hook.heard)
    await apps.add(ALICE, InstalledApp.of(diary, now))

    assert (early, unheard) == ([], [])
    assert len(await hooked.announce()) == 1


def test_t18_attempts_are_further_and_further_apart():
    assert sorted(DELAYS) == list(DELAYS)
    assert ATTEMPTS == 7


async def test_t18_who_is_gone_is_not_called_again_and_its_developer_is_told(hooked):
    hooked.hook.statuses = [410]
    await deliver(hooked.world.deps, hooked.told)

    assert hooked.due() == []
    assert await hooked.log() == [(True, "given up after 1 attempts: HTTP 410")]
    app = await hooked.world.deps.apps.get(DIARY)
    assert app.webhook_off is not None
    assert app.switched_off is None
    assert await hooked.announce() == []
    told = [body["uid"] for _, body in hooked.world.tasks.created.values() if "attempt" not in body]
    assert told == ["dev"]

    changed = {"description": "It takes calls again."}
    await hooked.world.request("PATCH", f"/v1/apps/{DIARY}", uid="dev", json=changed)

    assert len(await hooked.announce()) == 1


async def fail_to_the_end(hooked: Hooked) -> None:
    """Let the last attempt be made, that follows the others by so long."""
    hooked.hook.statuses = [500]
    hooked.world.clock.pass_(seconds=sum(DELAYS, timedelta()).total_seconds())
    await deliver(hooked.world.deps, replace(hooked.told, attempt=ATTEMPTS))


async def notices(hooked: Hooked) -> list[tuple[str, str]]:
    found = await hooked.world.deps.inbox.delivered(UserId("dev"), limit=9)
    return [(notice.title, notice.body) for notice in found.items]


async def test_t9_a_webhook_at_which_nothing_arrives_for_a_day_is_switched_off(hooked):
    await deliver(hooked.world.deps, hooked.told)
    hooked.world.clock.pass_(hours=7)
    await fail_to_the_end(hooked)
    await fail_to_the_end(hooked)

    app = await hooked.world.deps.apps.get(DIARY)
    assert app.webhook_off is not None
    assert "Nothing arrived for a day" in app.webhook_off.reason
    assert app.switched_off is None
    assert await notices(hooked) == [("Diary: webhook was switched off", app.webhook_off.reason)]
    assert len(hooked.hook.heard) == 2, "the second was overtaken by the verdict"
    assert await hooked.announce() == []

    changed = {"description": "It takes calls again."}
    await hooked.world.request("PATCH", f"/v1/apps/{DIARY}", uid="dev", json=changed)
    await fail_to_the_end(hooked)

    assert len(await hooked.announce()) == 1, "it has another day from then on"


async def test_t9_a_webhook_at_which_something_arrived_within_a_day_stays_on(hooked):
    await log_call(hooked, hours=23, kind="webhook")
    hooked.world.clock.pass_(hours=20)

    await fail_to_the_end(hooked)

    assert (await hooked.world.deps.apps.get(DIARY)).webhook_off is None
    assert await notices(hooked) == []


async def test_t9_tools_that_work_speak_for_no_webhook(hooked):
    await log_call(hooked, hours=23, kind="tool")
    hooked.world.clock.pass_(hours=7)

    await fail_to_the_end(hooked)

    assert (await hooked.world.deps.apps.get(DIARY)).webhook_off is not None


async def log_call(hooked: Hooked, *, hours: float, kind: CallKind) -> None:
    """Let a call have worked so long after now."""
    at = hooked.world.clock.now() + timedelta(hours=hours)
    call = AppCall(id="well", at=at, kind=kind, name="t", ms=1, user="u")
    await hooked.world.deps.calls.add(DIARY, call)


async def test_t9_one_attempt_that_fails_after_days_of_silence_condemns_no_webhook(hooked):
    hooked.hook.statuses = [500]
    hooked.world.clock.pass_(hours=72)

    await deliver(hooked.world.deps, replace(hooked.told, attempt=ATTEMPTS - 1))

    assert (await hooked.world.deps.apps.get(DIARY)).webhook_off is None


@pytest.mark.parametrize("fault", [error, timeout, lost])
@pytest.mark.parametrize(("port", "method"), [("calls", "has_arrived"), ("inbox", "add"), ("apps", "revise")])  # fmt: skip
async def test_t9_a_verdict_that_was_interrupted_is_thought_of_again_and_told_once(
    hooked, port, method, fault
):
    hooked.world.clock.pass_(hours=7)
    deps = hooked.world.deps
    hooked.world.deps = replace(deps, **{port: Faulty(getattr(deps, port), **{method: [fault]})})
    with pytest.raises(Unavailable):
        await fail_to_the_end(hooked)

    hooked.world.deps = deps
    await deliver(deps, replace(hooked.told, attempt=ATTEMPTS))

    assert (await deps.apps.get(DIARY)).webhook_off is not None
    assert len(await notices(hooked)) == 1


async def undo_installation(hooked: Hooked) -> None:
    await hooked.world.deps.installed_apps.remove(ALICE, DIARY)


async def delete_conversation(hooked: Hooked) -> None:
    await hooked.world.documents.write(Delete(conversation_path(ALICE, TALK)))


async def say_something_else(hooked: Hooked) -> None:
    await hooked.write(replace(hooked.said, transcript_segments=(Segment(text="No."),)))


async def discard(hooked: Hooked) -> None:
    await hooked.write(replace(hooked.said, discarded=True))


async def delete_app(hooked: Hooked) -> None:
    await hooked.world.deps.apps.remove(DIARY)


async def erase_its_owner(hooked: Hooked) -> None:
    await hooked.world.documents.delete_tree(f"users/{ALICE}")


async def hide_app(hooked: Hooked) -> None:
    await hooked.change(private=True)


async def switch_off(hooked: Hooked) -> None:
    await hooked.change(webhook_off=SwitchedOff(at=hooked.world.clock.now(), reason="gone"))


@pytest.mark.parametrize(
    "happen",
    [
        undo_installation,
        delete_conversation,
        say_something_else,
        discard,
        delete_app,
        hide_app,
        switch_off,
        erase_its_owner,
    ],
)
async def test_t18_what_happened_between_event_and_delivery_counts(hooked, happen):
    await hooked.announce()
    await happen(hooked)

    await deliver(hooked.world.deps, hooked.told)

    assert hooked.hook.heard == []
    assert await hooked.log() == []


@pytest.mark.parametrize("status", ["processing", "failed"])
async def test_t18_what_is_processed_anew_is_told_by_a_later_attempt(hooked, status):
    """Its next announcement has the same name, so that it may queue nothing."""
    await hooked.announce()
    await hooked.write(replace(hooked.said, status=status))
    await deliver(hooked.world.deps, hooked.told)
    unheard = list(hooked.hook.heard)
    await hooked.write(hooked.said)

    *_, later = await hooked.announce()
    await deliver(hooked.world.deps, replace(hooked.told, attempt=later["attempt"]))

    assert (unheard, later["attempt"]) == ([], 2)
    assert len(hooked.hook.heard) == 1


async def test_t18_what_is_processed_anew_at_the_last_attempt_is_told_by_none(hooked):
    await hooked.write(replace(hooked.said, status="processing"))

    await deliver(hooked.world.deps, replace(hooked.told, attempt=ATTEMPTS))

    assert (hooked.hook.heard, hooked.due(), await hooked.log()) == ([], [], [])


async def test_t18_what_its_owner_names_is_told_as_they_named_it(hooked):
    bo = Speaker(name="Bo", person_id=PersonId("bo"), is_user=True)
    named = replace(hooked.said, speakers={"SPEAKER_01": bo})
    await hooked.write(named)
    told = replace(hooked.told, content_hash=content_hash(named))

    await deliver(hooked.world.deps, told)

    [(_, _, body)] = hooked.hook.heard
    assert [s["speaker"] for s in json.loads(body)["transcript_segments"]] == ["Ann", "Bo"]


async def post(hooked: Hooked, function: str, body: Any) -> Response:
    endpoints = {"on_conversation_processed": ANNOUNCE, "deliver_webhook": DELIVER}[function]
    token = await hooked.world.deps.service_identity.token(function)
    async with AsyncClient(
        transport=ASGITransport(application(function, endpoints, hooked.world.deps)),
        base_url="http://test",
        headers={"authorization": f"Bearer {token}"},
    ) as client:
        return await client.post("/", json=body)


async def test_t18_a_task_is_taken_as_it_was_created(hooked):
    [due] = await hooked.announce()

    answer = await post(hooked, "deliver_webhook", due)

    assert answer.status_code == 204
    assert len(hooked.hook.heard) == 1


@pytest.mark.parametrize("function", ["on_conversation_processed", "deliver_webhook"])
async def test_t18_what_names_nothing_is_refused(hooked, function):
    assert (await post(hooked, function, {})).status_code == 422
