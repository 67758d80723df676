"""Stream: a device's connection from its first frame to its end, when everything that it sent is stored.

What is said is stored before it is shown. Nothing of a conversation stands in this process alone: where a
connection is cut, the next one goes on with it, in whatever instance, and a task ends it after its pause.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress
from datetime import datetime, timedelta
from functools import partial
from math import inf
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from functions.media.deps import ListenDeps
from functions.media.live.closing import (
    BROKEN,
    DEAF,
    ELSEWHERE,
    FAST,
    LARGE,
    LEFT,
    LONG,
    SILENT,
    UNREADABLE,
    Closing,
    explain,
)
from functions.media.live.kept_sound import KeptSound
from functions.media.live.late_sound import LateSound, transcribe_later
from functions.media.live.listeners import Listeners, SoundCalls, Work, find_listeners
from functions.media.live.live_schemas import (
    ListenQuery,
    PhotoChunkIn,
    SuggestedIn,
    build_conversation_event,
    build_segments,
    build_status,
)
from functions.media.live.pace import TEXT_BYTES_PER_S, Pace
from functions.media.live.photos import PhotoChunks
from functions.media.live.session import LiveSession, Said, Step
from functions.media.live.unheard import Unheard
from functions.media.live.waiting_sound import WaitingSound
from shared import telemetry
from shared.data.store.codec import type_adapter
from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.live_conversation import LiveBatch, LiveConversation
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing
from shared.domain.errors import (
    KeepsakeError,
    NotFound,
    PreconditionFailed,
    QuotaExceeded,
    Unavailable,
)
from shared.domain.ids import ConversationId, UserId
from shared.domain.value import value
from shared.library.device_frames import MAX_FRAME_BYTES
from shared.library.live_conversations import end_live, schedule_end
from shared.library.webhook_tasks import queue_live_words
from shared.ports import LiveHearing

TICK_S = 1.0
PING_EVERY = timedelta(seconds=10)
CHECK_EVERY = timedelta(seconds=60)
FLUSH_AFTER = timedelta(seconds=2)
"""Where no sound comes for so long, what was said is told without more of it."""
MAX_QUIET_LINE = timedelta(seconds=90)
MAX_STREAM = timedelta(minutes=55)
"""The platform cuts a connection after an hour; the app comes back and goes on."""
MAX_BEHIND_S = 40.0
"""Where so much sound waits for its words, what is not being heard yet is transcribed later."""
MAX_UNTOLD_S = 120.0
"""Who tells nothing of so much hears nothing: the stream ends, and all of it is transcribed later."""
DRAIN_S = 20.0
"""How long the next words of sound that came are waited for when the device has left."""
SEND_TIMEOUT_S = 20.0
"""A device that takes nothing for so long is told nothing more."""
LATE_WORDS = timedelta(seconds=15)
"""How long after its sound an app may tell what it heard by itself."""
COUNTED_S = 10
"""Seconds of sound that are taken from a quota at once."""
MAX_UNREADABLE_FRAMES = 100
MAX_PHOTOS = 20
MAX_PHOTO_BYTES = 2_000_000
"""Of a conversation; further ones are not kept."""
STORE_ATTEMPTS = 5
FOLLOW_EVERY_S = 3.0
FOLLOW_TIMES = 100


@value
class Caller:
    """Who sends sound, with which token, from which of their devices, and how."""

    uid: UserId
    token: str
    device: str
    query: ListenQuery


class Stream:
    """One connection that was accepted."""

    def __init__(
        self, deps: ListenDeps, socket: WebSocket, caller: Caller, send_timeout_s: float
    ) -> None:
        now = deps.clock.now()
        self._deps = deps
        self._socket = socket
        self._uid = caller.uid
        self._caller = caller
        self._stream = deps.new_id()
        self._send_timeout_s = send_timeout_s
        self._reads = True
        self._decoder = caller.query.build_decoder()
        self._photos = PhotoChunks()
        self._pace = Pace(now)
        self._began_at = self._heard_at = self._pinged_at = self._checked_at = self._flushed_at = (
            now
        )
        self._prepaid_s = float(COUNTED_S)
        self._unreadable = 0
        self._is_all_told = False
        self._storing = asyncio.Lock()
        self._followers: list[asyncio.Task[None]] = []
        self._kept = KeptSound(deps, caller.uid, self._stream, caller.query.known_source)
        language = caller.query.language_code
        self._waiting = WaitingSound(deps, caller.uid, self._stream, language)
        self._listeners = Listeners()
        self._sound_calls = SoundCalls(deps, caller.uid, self._stream, self._start)
        self._closing: asyncio.Future[Closing] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Hear the device until it leaves, or may send no more; then store what it said last."""
        closing = BROKEN
        try:
            await self._send(build_status("initiating", "Connecting"))
            self._session = await self._resume()
            await self._find_listeners()
            closing = await self._serve()
        except KeepsakeError as error:
            closing = explain(error)
        except WebSocketDisconnect:
            closing = LEFT
        finally:
            telemetry.add_fields(close_code=closing.code, reason=closing.reason)
            await self._close(closing)

    async def _resume(self) -> LiveSession:
        """Go on with what this device left within its pause; what is over by now, a task ends."""
        now, query = self._deps.clock.now(), self._caller.query
        template = LiveConversation(
            id=ConversationId(""),
            device=self._caller.device,
            source=query.known_source,
            started_at=now,
            last_words_at=now,
            pause_s=round(query.pause.total_seconds()),
            stream=self._stream,
            language=query.language_code,
        )
        resumed = None
        for live in await self._deps.stores.live_conversations.list_all(self._uid):
            if live.device == self._caller.device and not (live.is_ending or live.is_over(now)):
                resumed = await self._deps.stores.live_conversations.take_over(
                    self._uid, live.id, self._stream
                )
        hears_here = query.custom_stt == "disabled"
        provider = self._deps.live_transcriber.name if hears_here else None
        return LiveSession(template, self._deps.new_id, resumed=resumed, provider=provider)

    async def _serve(self) -> Closing:
        async with (
            self._open_hearing() as hearing,
            asyncio.TaskGroup() as tasks,
        ):
            self._tasks = tasks
            told = self._start(self._tell, hearing)
            others = [self._start(work, hearing) for work in (self._receive, self._watch)]
            await self._send(build_status("ready", "Listening"))
            closing = await self._closing
            for task in others:
                task.cancel()
            self._start(self._sound_calls.finish)
            await self._drain(hearing, told)
            await self._guard(partial(self._keep_sound, hearing, is_over=True))
            for task in self._followers:
                task.cancel()
        return closing

    def _start(self, work: Work, *args: Any) -> asyncio.Task[None]:
        return self._tasks.create_task(self._guard(work, *args))

    def _open_hearing(self) -> AbstractAsyncContextManager[LiveHearing]:
        query = self._caller.query
        if query.custom_stt == "enabled":
            return nullcontext(Unheard())
        return self._deps.live_transcriber.open(language=query.language_code)

    async def _guard(self, work: Work, *args: Any) -> None:
        """Let what fails end the stream in good order, with what was heard."""
        try:
            await work(*args)
        except KeepsakeError as error:
            self._end(explain(error))
        except WebSocketDisconnect:
            self._end(LEFT)

    def _end(self, closing: Closing) -> None:
        if not self._closing.done():
            self._closing.set_result(closing)

    async def _drain(self, hearing: LiveHearing, told: asyncio.Task[None]) -> None:
        """Wait for the words of what was heard, while more of it is told. The conversation stays open: its device may come back.

        What is left is transcribed later: a slow machine, or one that has much to hear, loses no word.
        """
        work = [self._start(hearing.end), told]
        ended = asyncio.create_task(asyncio.wait(work))
        heard_until = -1.0
        while not ended.done() and hearing.heard_until > heard_until:
            heard_until = hearing.heard_until
            waited = asyncio.create_task(self._deps.clock.sleep(DRAIN_S))
            await asyncio.wait({ended, waited}, return_when=asyncio.FIRST_COMPLETED)
            waited.cancel()
        async with self._storing:  # no word is stored meanwhile, to be transcribed once more
            for task in work:
                task.cancel()
            await ended
        await self._guard(self._give_up_rest, hearing)

    async def _give_up(self, hearing: LiveHearing) -> None:
        """Have windows that wait to be heard transcribed later. Raises Unavailable where nothing is told any more."""
        if self._session.position - hearing.heard_until > MAX_UNTOLD_S:
            raise Unavailable("Nothing is told of live sound")
        windows = hearing.give_up()
        if not windows:
            return
        sounds = [
            LateSound(began_at=self._session.find_time(each.start), samples=each.samples)
            for each in windows
        ]
        heard_at, end = map(self._session.find_time, (hearing.heard_until, windows[-1].end))
        async with self._storing:
            await self._transcribe_later(sounds, min(heard_at, sounds[0].began_at), end)
            for each in windows:
                self._waiting.silence(each)
            await self._waiting.discard()
            await self._store_waiting()

    async def _give_up_rest(self, hearing: LiveHearing) -> None:
        """Have whatever waits at the end of a stream transcribed later, whoever was to hear it."""
        async with self._storing:
            self._waiting.forget(inf if self._is_all_told else hearing.heard_until)
            began_at = self._session.find_time(self._waiting.start)
            if late := self._waiting.build_late(began_at):
                end = self._session.find_time(self._session.position)
                await self._transcribe_later([late], began_at, end)
            await self._waiting.discard()

    async def _transcribe_later(
        self, sounds: Sequence[LateSound], begin: datetime, end: datetime
    ) -> None:
        live = await self._place(begin, end)
        try:
            language = self._caller.query.language_code
            await transcribe_later(self._deps, self._uid, live, sounds, language=language)
        except (NotFound, QuotaExceeded, Unavailable) as error:
            telemetry.warning("live_words_lost", error=type(error).__name__)

    async def _place(self, begin: datetime, end: datetime) -> LiveConversation:
        """Return the stored conversation of sound without words, which goes on until its end."""
        live = self._session.conversation
        if live is not None and live.is_over(begin):
            await self._end_conversation()
        return (await self._store(self._session.place(begin, end))).conversation

    async def _store_waiting(self) -> None:
        """Store what has waited for long, so that it outlives this process."""
        if self._waiting.is_stale:
            await self._waiting.discard()
        if self._waiting.is_due:
            began_at = self._session.find_time(self._waiting.start)
            live = self._session.recorded
            if live is None or live.is_over(began_at):
                live = await self._place(began_at, began_at)
            await self._waiting.store(live, began_at)

    async def _end_conversation(self) -> None:
        for step in self._session.end():
            await self._do(step)

    async def _close(self, closing: Closing) -> None:
        if self._is_connected():
            await self._tell_device(self._socket.close(closing.code, closing.short_reason))

    # What the device sends.

    async def _receive(self, hearing: LiveHearing) -> None:
        while not self._closing.done():
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                self._end(LEFT)
            elif (frame := message.get("bytes")) is not None:
                await self._take_frame(hearing, frame)
            else:
                await self._take_text(message.get("text") or "")

    async def _take_frame(self, hearing: LiveHearing, frame: bytes) -> None:
        if len(frame) > MAX_FRAME_BYTES:
            return self._end(LARGE)
        now = self._deps.clock.now()
        samples = self._decoder.decode(frame)
        seconds = len(samples) / (2 * SAMPLE_RATE)
        self._unreadable = 0 if samples else self._unreadable + 1
        if self._unreadable >= MAX_UNREADABLE_FRAMES:
            return self._end(UNREADABLE)
        if not self._pace.take(seconds, now):
            return self._end(FAST)
        self._heard_at = now
        await self._count(seconds)
        self._session.take_sound(seconds, now)
        self._waiting.take(samples)
        self._sound_calls.take(samples)
        self._kept.take(samples, now)
        await hearing.hear(samples)
        if self._session.position - hearing.heard_until > MAX_BEHIND_S:
            await self._give_up(hearing)
        return None

    async def _count(self, seconds: float) -> None:
        """Count sound towards the quota of a day, before it is heard."""
        self._prepaid_s -= seconds
        while self._prepaid_s < 0:
            await count_live_sound(self._deps, self._uid)
            self._prepaid_s += COUNTED_S

    async def _take_text(self, text: str) -> None:
        """Take what a device says beside its sound; what is not understood changes nothing."""
        now = self._deps.clock.now()
        if not self._pace.take(len(text) / TEXT_BYTES_PER_S, now):
            return self._end(FAST)
        try:
            said = type_adapter(SuggestedIn | PhotoChunkIn).validate_json(text)
        except ValidationError:
            return telemetry.count(unread_texts=1)
        if isinstance(said, PhotoChunkIn):
            await self._take_photo(said)
        elif self._caller.query.custom_stt == "enabled":
            await self._take_hearing(said.to_hearing())
        return None

    async def _take_photo(self, chunk: PhotoChunkIn) -> None:
        content = self._photos.add(chunk)
        if content is None:
            return None
        now = self._deps.clock.now()
        photo = Photo(id=self._deps.new_id(), base64=content, created_at=now)
        async with self._storing:
            said = self._session.place(now, now)
            live = said.conversation
            if live.photo_count >= MAX_PHOTOS or live.photo_bytes + len(content) > MAX_PHOTO_BYTES:
                return telemetry.count(refused_photos=1)
            await self._store(said, photos=(photo,))
        message = {"type": "photo_processing", "temp_id": chunk.id, "photo_id": photo.id}
        return await self._send(message)

    # What time brings.

    async def _watch(self, hearing: LiveHearing) -> None:
        while not self._closing.done():
            await self._deps.clock.sleep(TICK_S)
            now = self._deps.clock.now()
            await self._keep_alive(now)
            if now - self._began_at >= MAX_STREAM:
                self._end(LONG)
            elif now - self._heard_at >= MAX_QUIET_LINE:
                self._end(SILENT)
            elif now - max(self._heard_at, self._flushed_at) >= FLUSH_AFTER:
                self._flushed_at = now
                await hearing.flush()
            async with self._storing:
                self._waiting.forget(hearing.heard_until)
                await self._store_waiting()
                await self._keep_sound(hearing)
                if self._session.is_paused(hearing.heard_until, now):
                    await self._end_conversation()

    async def _keep_sound(self, hearing: LiveHearing, *, is_over: bool = False) -> None:
        """Store the sound of what was said; words are waited for that may still come."""
        heard_at = self._session.find_time(hearing.heard_until)
        if is_over:
            await self._kept.end(self._session.recorded, heard_at)
        else:
            late = self._deps.clock.now() - LATE_WORDS
            await self._kept.place(self._session.recorded, min(heard_at, late))

    async def _keep_alive(self, now: datetime) -> None:
        if now - self._pinged_at >= PING_EVERY:
            self._pinged_at = now
            await self._send("ping")
        if now - self._checked_at >= CHECK_EVERY:
            self._checked_at = now
            await self._check_token()
            with suppress(Unavailable):  # it goes on with those who were found before
                await self._find_listeners()

    async def _find_listeners(self) -> None:
        """Look whom the owner allows to hear this, whom each call looks up once more, and whether they keep it."""
        profile = await self._deps.stores.profiles.get(self._uid)
        self._kept.is_wanted = profile.keeps_audio
        self._listeners = await find_listeners(self._deps.stores, self._uid)
        self._sound_calls.follow(self._listeners.sound)

    async def _check_token(self) -> None:
        """Raises NotAuthenticated once the token has expired, or its owner signed out everywhere."""
        try:
            await self._deps.identity.verify(self._caller.token)
        except Unavailable:
            return

    # What is heard.

    async def _tell(self, hearing: LiveHearing) -> None:
        async with aclosing(hearing.iterate()) as told:
            async for heard in told:
                await self._take_hearing(heard)
        self._is_all_told = self._closing.done()  # else its provider left in the midst of it

    async def _take_hearing(self, heard: Hearing) -> None:
        async with self._storing:
            for step in self._session.take(heard):
                await self._do(step)
            if heard.is_final and heard.utterances:
                self._waiting.forget(max(each.end for each in heard.utterances))
                await self._store_waiting()

    async def _do(self, step: Step) -> None:
        if not isinstance(step, Said):
            await self._kept.flush()
            conversation = await end_live(self._deps, self._uid, step.conversation_id)
            if conversation is not None:
                event = build_conversation_event("memory_processing_started", conversation)
                await self._send(event)
                self._followers.append(self._start(self._tell_when_processed, conversation.id))
            return
        if step.is_final and step.segments:
            step = await self._store(step)
        if step.gone:
            await self._send({"type": "segments_deleted", "segment_ids": list(step.gone)})
        if step.segments:
            await self._send(build_segments(step.segments, is_final=step.is_final))

    async def _store(self, said: Said, photos: tuple[Photo, ...] = ()) -> Said:
        """Count and store what was said; what its conversation takes no more begins another, which is returned.

        Raises QuotaExceeded, and Unavailable.
        """
        names = [*(segment.id for segment in said.segments), *(photo.id for photo in photos)]
        name = next(filter(None, names), None) or self._deps.new_id()
        uncounted = sum(segment.count_text_bytes() for segment in said.segments)
        for attempt in range(STORE_ATTEMPTS):
            batch = LiveBatch(id=name, segments=said.segments, photos=photos)
            try:
                if uncounted:
                    now = self._deps.clock.now()
                    await self._deps.quotas.take(self._uid, "ingested_bytes", uncounted, now=now)
                    uncounted = 0
                if said.is_new:  # first: whatever becomes of this process, somebody ends it
                    await schedule_end(self._deps, self._uid, said.conversation)
                stored = await self._add(said, batch)
            except Unavailable:
                await self._deps.clock.sleep(attempt + 1)
                continue
            if stored is not None:
                self._session.conversation = stored
                if said.segments:
                    await self._tell_listeners(stored.id, batch.id)
                if stored.stream != self._stream:
                    self._end(ELSEWHERE)
                return said
            said = self._session.restart(said)
        raise Unavailable("What was said could not be stored")

    async def _add(self, said: Said, batch: LiveBatch) -> LiveConversation | None:
        """Store a batch; its words take the place of their sound, unless that is transcribed elsewhere by now.

        Raises PreconditionFailed then, and Unavailable.
        """
        try:
            heard = await self._waiting.give_way() if said.segments else None
            stored = await self._deps.stores.live_conversations.add(
                self._uid, said.conversation, batch, is_new=said.is_new, also=heard
            )
        except PreconditionFailed:
            self._waiting.skip_stored()
            raise
        if stored is not None and said.segments:
            await self._waiting.discard()
        return stored

    async def _tell_listeners(self, conversation_id: ConversationId, batch_id: str) -> None:
        """What nobody can be told of now, the end of its conversation tells."""
        words = self._listeners.words
        try:
            await queue_live_words(self._deps.tasks, self._uid, words, conversation_id, batch_id)
        except Unavailable:
            telemetry.warning("live_words_not_told")

    async def _tell_when_processed(self, conversation_id: ConversationId) -> None:
        """Tell the device when a conversation of this stream is ready, so that it need not ask."""
        for _ in range(FOLLOW_TIMES):
            await self._deps.clock.sleep(FOLLOW_EVERY_S)
            try:
                conversation = await self._deps.stores.conversations.get_stored(
                    self._uid, conversation_id
                )
                if conversation.status != "processing":
                    whole = await self._deps.stores.conversations.get(self._uid, conversation_id)
                    return await self._send(build_conversation_event("memory_created", whole))
            except (NotFound, Unavailable):
                continue
        return None

    async def _send(self, message: Any) -> None:
        """Send a text, or anything else as JSON; who has left is told nothing."""
        if not (self._reads and self._is_connected()):
            return
        text = message if isinstance(message, str) else to_json(message).decode()
        await self._tell_device(self._socket.send_text(text))

    async def _tell_device(self, telling: Coroutine[Any, Any, None]) -> None:
        """Wait until the device takes it, but not for long: what is said meanwhile waits as well."""
        try:
            async with asyncio.timeout(self._send_timeout_s):
                await telling
        except TimeoutError:
            self._reads = False
            self._end(DEAF)
        except WebSocketDisconnect:
            self._end(LEFT)

    def _is_connected(self) -> bool:
        states = (self._socket.client_state, self._socket.application_state)
        return states == (WebSocketState.CONNECTED, WebSocketState.CONNECTED)


async def count_live_sound(deps: ListenDeps, uid: UserId) -> None:
    """Take the next seconds of sound from the quota of a day. Raises QuotaExceeded."""
    await deps.quotas.take(uid, "recorded_seconds", COUNTED_S, now=deps.clock.now())
