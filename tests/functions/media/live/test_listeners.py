"""Live sound for apps and an owner's server: sent in calls of some seconds, only while its owner allows it (L3)."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.media.live.application import build_application
from functions.media.live.listeners import MAX_FAILURES
from shared.domain.apps.app import App, ExternalIntegration, InstalledApp
from shared.domain.apps.webhook import DeveloperWebhook, DeveloperWebhooks
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.ids import AppId, UserId
from shared.ports import EgressRequest, EgressResponse
from tests.fixtures.devices import (
    Device,
    ScriptedLiveTranscriber,
    build_device,
    build_listen_deps,
)
from tests.fixtures.processing import ALICE, ProcessingFixture

EAR = AppId("01EAR")
FRAME = bytes(range(256)) * 25
"""A fifth of a second."""
SECRET = "whsec_" + "c2VjcmV0" * 5


@dataclass
class Hook:
    """A server that hears; each call is answered at once with `status`."""

    status: int = 200
    calls: list[EgressRequest] = field(default_factory=list)

    def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None:
        """Take any."""

    async def send(self, request: EgressRequest) -> EgressResponse:
        self.calls.append(request)
        return EgressResponse(status=self.status, content_type="", body=b"")

    @property
    def sound(self) -> bytes:
        return b"".join(call.body or b"" for call in self.calls)


class SlowHook(Hook):
    """A server that answers no call before the second one has come."""

    def __init__(self) -> None:
        super().__init__()
        self._calls_at_once = asyncio.Barrier(2)

    async def send(self, request: EgressRequest) -> EgressResponse:
        await self._calls_at_once.wait()
        return await super().send(request)


@pytest.fixture
def hook() -> Hook:
    return Hook()


async def play(world: ProcessingFixture, hook: Hook, seconds: float, **deps: Any) -> None:
    """Let Alice's device send so much sound and leave."""
    device = await connect(world, hook, **deps)
    await device.play(seconds / 2, FRAME)
    await device.leave()


async def connect(world: ProcessingFixture, hook: Hook, limits: Any = None) -> Device:
    deps = build_listen_deps(world, ScriptedLiveTranscriber(), limits, egress=hook)
    device = build_device(build_application(deps), world)
    await device.connect()
    return device


async def switch_on(world: ProcessingFixture, url: str) -> None:
    webhook = DeveloperWebhook(url=url, enabled=True)

    def change(webhooks: DeveloperWebhooks) -> DeveloperWebhooks:
        return webhooks.put("audio_bytes", webhook).with_secret(SECRET)

    await world.deps.stores.developer_webhooks.change(ALICE, change)


async def register(world: ProcessingFixture) -> App:
    url = "https://ear.example.com/hook"
    integration = ExternalIntegration(triggers_on="audio_bytes", webhook_url=url)
    app = App(
        id=EAR,
        owner=UserId("dev"),
        name="Ear",
        created_at=world.clock.now(),
        private=False,
        signing_secret=SECRET,
        external_integration=integration,
    )
    await world.deps.stores.apps.create(app)
    return app


async def install(world: ProcessingFixture, app: App, *named: str) -> None:
    granted = frozenset(named) if named else None
    installed = InstalledApp.of(app, world.clock.now(), granted)
    await world.deps.stores.installed_apps.add(ALICE, installed)


async def test_an_owners_server_gets_all_sound_in_calls_of_the_seconds_it_names_l3(
    world: ProcessingFixture, hook: Hook
) -> None:
    await switch_on(world, "https://me.example.com/hook?a=b,2")
    await play(world, hook, 5)

    assert hook.sound == FRAME * 25
    call = hook.calls[0]
    assert call.url == f"https://me.example.com/hook?a=b&sample_rate={SAMPLE_RATE}&uid=alice"
    assert call.headers["Content-Type"] == "application/octet-stream"
    assert call.headers["keepsake-signature"].startswith("v1,")
    assert [len(call.body or b"") / (2 * SAMPLE_RATE) for call in hook.calls] == [2, 2, 1]
    [sent] = await world.deps.stores.live_listeners.list_all(ALICE)
    assert (sent.app_id, sent.sound_s) == ("", 5)


async def test_an_app_gets_sound_only_by_a_grant_of_that_name_l3(
    world: ProcessingFixture, hook: Hook
) -> None:
    app = await register(world)
    await install(world, app)
    await play(world, hook, 6)
    unheard = [*hook.calls]
    await install(world, app, "hear_live_sound")
    await play(world, hook, 6)
    device = await connect(world, hook)
    await device.play(2, FRAME)
    await install(world, app, "hear_conversations")
    await device.play(2, FRAME)
    await device.leave()

    assert unheard == []
    assert hook.sound == FRAME * 30
    assert {call.url for call in hook.calls} == {
        f"https://ear.example.com/hook?sample_rate={SAMPLE_RATE}&uid=alice"
    }


async def test_sound_is_not_sent_beyond_the_quota_and_the_stream_goes_on_l3(
    world: ProcessingFixture, hook: Hook
) -> None:
    await switch_on(world, "https://me.example.com/hook,1")
    await play(world, hook, 3, limits={"live_calls": 1})

    assert len(hook.calls) == 1


async def test_a_listener_that_fails_is_not_called_on_and_on_l3(
    world: ProcessingFixture, hook: Hook
) -> None:
    hook.status = 500
    await switch_on(world, "https://me.example.com/hook,1")
    await play(world, hook, 20)

    assert len(hook.calls) == MAX_FAILURES


async def test_no_listener_waits_for_another_at_the_end_of_a_stream_l3(
    world: ProcessingFixture,
) -> None:
    await switch_on(world, "https://me.example.com/hook")
    await install(world, await register(world), "hear_live_sound")
    slow = SlowHook()
    await play(world, slow, 3)

    assert [call.body for call in slow.calls] == [FRAME * 15] * 2
