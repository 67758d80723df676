"""Live listeners of a stream: apps and the owner's server, each while the owner allows it.

Words are sent by tasks. Sound goes to each listener in calls of a few seconds, one after the other, and is stored
nowhere for it: what a listener does not take in time is lost to it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import field
from typing import Any

from functions.media.deps import ListenDeps
from shared import telemetry
from shared.data.stores import Stores
from shared.domain.apps.app import App, AppCall
from shared.domain.apps.webhook import OWN_WEBHOOK
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import KeepsakeError, QuotaExceeded
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.library.webhook_recipients import (
    Recipient,
    load_installed,
    load_recipient,
    load_secrets,
)
from shared.outbound.addresses import with_query
from shared.outbound.webhook_signature import sign_bytes
from shared.ports import EgressRequest

EVERY_S = 5
MAX_EVERY_S = 15
TIMEOUT_S = 15.0
MAX_FAILURES = 5
"""Calls in a row that fail; then a listener hears no more of this stream."""
_MAX_ANSWER_BYTES = 4_096
Work = Callable[..., Coroutine[Any, Any, None]]
"""Runs beside a stream. One that is cut off in the same moment may never begin: so it is called then."""
_BYTES_PER_S = 2 * SAMPLE_RATE


@value
class Listeners:
    """Who hears words, and who hears sound, by how many seconds of it a call brings."""

    words: tuple[AppId, ...] = ()
    sound: Mapping[AppId, int] = field(default_factory=dict)


async def find_listeners(stores: Stores, uid: UserId) -> Listeners:
    """Return the listeners whom their user allows it now."""
    webhooks = await stores.developer_webhooks.get(uid)
    own_words, own_sound = webhooks.get("realtime_transcript"), webhooks.get("audio_bytes")
    installed = await load_installed(stores, uid)
    words = [
        app.id for app, given in installed if app.is_called_for("transcript_processed", uid, given)
    ]
    sound = {
        app.id: EVERY_S for app, given in installed if app.is_called_for("audio_bytes", uid, given)
    }
    if own_words.is_on:
        words.append(OWN_WEBHOOK)
    if own_sound.is_on:
        sound[OWN_WEBHOOK] = min(own_sound.every_s or EVERY_S, MAX_EVERY_S)
    return Listeners(words=tuple(words), sound=sound)


class _SoundListener:
    """Sound that waits for one listener."""

    def __init__(self, every_s: int) -> None:
        self.call_bytes = every_s * _BYTES_PER_S
        self.waiting = bytearray()
        self.call: asyncio.Task[None] | None = None
        self.calls = 0
        self.failures = 0


class SoundCalls:
    """Sends the sound of a stream to whoever hears it; `start` runs a call beside the stream."""

    def __init__(
        self,
        deps: ListenDeps,
        uid: UserId,
        stream: str,
        start: Callable[..., asyncio.Task[None]],
    ) -> None:
        self._deps = deps
        self._uid = uid
        self._stream = stream
        self._start = start
        self._listeners: dict[AppId, _SoundListener] = {}

    def follow(self, listeners: Mapping[AppId, int]) -> None:
        """Take these as those who hear sound from now on."""
        self._listeners = {
            app_id: self._listeners.get(app_id) or _SoundListener(every_s)
            for app_id, every_s in listeners.items()
        }

    def take(self, samples: bytes) -> None:
        """Take sound that has come; the oldest is lost to a listener that takes it too slowly."""
        for app_id, listener in self._listeners.items():
            if listener.failures >= MAX_FAILURES:
                continue
            listener.waiting += samples
            if len(listener.waiting) < listener.call_bytes:
                continue
            if listener.call is not None and not listener.call.done():
                del listener.waiting[: len(listener.waiting) - listener.call_bytes]
            else:
                listener.call = self._start(self._call, app_id, listener)

    async def finish(self) -> None:
        """Send what is left, to all at once, in no more than the time of one call."""
        last = [self._start(self._finish, *each) for each in self._listeners.items()]
        if last:
            _, late = await asyncio.wait(last, timeout=TIMEOUT_S)
            for task in late:
                task.cancel()

    async def _finish(self, app_id: AppId, listener: _SoundListener) -> None:
        if listener.call is not None:
            await asyncio.wait([listener.call])
        if listener.waiting and listener.failures < MAX_FAILURES:
            await self._call(app_id, listener)

    async def _call(self, app_id: AppId, listener: _SoundListener) -> None:
        samples = bytes(listener.waiting)
        listener.waiting.clear()
        try:
            await self._send(app_id, listener, samples)
        except QuotaExceeded:
            telemetry.count(unsent_sound=1)
        except KeepsakeError as error:
            telemetry.warning("live_sound_not_sent", error=type(error).__name__)
            listener.failures += 1

    async def _send(self, app_id: AppId, listener: _SoundListener, samples: bytes) -> None:
        deps, uid, now = self._deps, self._uid, self._deps.clock.now()
        recipient = await load_recipient(deps.stores, uid, app_id, "audio_bytes")
        if recipient is None:
            return
        await deps.quotas.take(uid, "live_calls", now=now)
        seconds = round(len(samples) / _BYTES_PER_S)
        await deps.stores.live_listeners.count(uid, app_id, now, sound_s=seconds)
        listener.calls += 1
        message_id = f"{self._stream}-{listener.calls}"
        request = await self._build_request(recipient, message_id, samples)
        error = await self._post(request)
        listener.failures = listener.failures + 1 if error else 0
        if recipient.app is not None and (error or listener.calls == 1):
            await self._log(recipient.app, recipient.user_id, error)

    async def _build_request(
        self, recipient: Recipient, message_id: str, samples: bytes
    ) -> EgressRequest:
        params = {"sample_rate": SAMPLE_RATE, "uid": recipient.user_id}
        url = with_query(recipient.url, params)
        secrets = await load_secrets(self._deps, self._uid, recipient)
        now = self._deps.clock.now()
        signature = sign_bytes(secrets, message_id, now, method="POST", url=url, body=samples)
        return EgressRequest(
            method="POST",
            url=url,
            headers={"Content-Type": "application/octet-stream", **signature},
            body=samples,
            timeout_s=TIMEOUT_S,
            max_bytes=_MAX_ANSWER_BYTES,
            is_body_needed=False,
            local_origins=recipient.app.local_origins if recipient.app else (),
        )

    async def _post(self, request: EgressRequest) -> str | None:
        """Return why a call failed; what it answers says nothing."""
        try:
            response = await self._deps.egress.send(request)
        except KeepsakeError as error:
            return type(error).__name__
        return None if response.status < 300 else f"HTTP {response.status}"

    async def _log(self, app: App, user_id: str, error: str | None) -> None:
        """Tell the app's developer of the first call of a stream, and of each that failed."""
        entry = AppCall(
            id=self._deps.new_id(),
            at=self._deps.clock.now(),
            kind="webhook",
            name="audio_bytes",
            ms=0,
            user=telemetry.hash_id(f"{app.id}|{user_id}"),
            failed=error is not None,
            error=error,
        )
        await self._deps.stores.call_log.add(app.id, entry)
