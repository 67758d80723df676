"""Voice messages: sound that its owner sent to a chat, written down once for each upload.

Also called: voice notes, dictation.
"""

import hashlib
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import anyio
from anyio import to_thread

from functions.chat.deps import ChatDeps
from functions.chat.voice.voice_sound import decode_voice
from shared.data.store.codec import type_adapter
from shared.domain.amounts import describe_bytes
from shared.domain.errors import (
    CallerError,
    Conflict,
    Invalid,
    KeepsakeError,
    ModelFailed,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import UserId
from shared.domain.store.operation import Operation, StoredResponse, build_operation
from shared.domain.value import value
from shared.library.recordings import NO_TRANSCRIBER
from shared.library.sound import build_wav

MAX_VOICE_BYTES = 12_582_912
"""Five minutes of 16-bit sound at 16 kHz have 9.6 MB."""
NO_FILE = "Send the sound as the file 'files' of a form: WAV, or the Opus frames of a device."
TOO_LARGE = f"A voice message has at most {describe_bytes(MAX_VOICE_BYTES)}: send it in parts."
IN_PROGRESS = (
    "This voice message is being written down already. Look into the chat again in a moment."
)
_TRANSCRIPTION_TIME_S = 120.0
_LEASE = timedelta(seconds=180)
_AT_ONCE = anyio.CapacityLimiter(2)
"""Each holds up to 30 MB of sound in memory."""


@value
class VoiceUpload:
    """Sound as it came, with the name of its file; `language` is ISO 639-1 if the app said one."""

    name: str
    content: bytes
    language: str | None = None

    @property
    def digest(self) -> str:
        """A hash that is the same for a repeat of the same upload, and for nothing else."""
        head = f"voice|{self.language or ''}|{len(self.name)}|{self.name}|"
        return hashlib.sha256(head.encode(errors="replace") + self.content).hexdigest()


@value
class SpokenText:
    """What was said; empty where nobody speaks. `language` is ISO 639-1 where the model tells."""

    text: str
    language: str | None = None


def is_transcriber_ready(deps: ChatDeps) -> bool:
    return deps.build_transcriber().is_ready


async def transcribe_voice(
    deps: ChatDeps, uid: UserId, upload: VoiceUpload, *, keeps_text: bool = True
) -> SpokenText:
    """Write down what was said; a repeat of an upload gets the text of the first for 24 hours.

    The sound counts towards the day's quota unless this fails. It is stored nowhere; with
    `keeps_text` false the text is not, either, and a repeat is written down anew.

    Raises Invalid, TooLarge, QuotaExceeded, Conflict (the same upload is at work), ModelFailed, whose
    text is for people, and Unavailable.
    """
    if not upload.content:
        raise Invalid(NO_FILE)
    if len(upload.content) > MAX_VOICE_BYTES:
        raise TooLarge(TOO_LARGE)
    if not is_transcriber_ready(deps):
        raise ModelFailed(NO_TRANSCRIBER, reason="refused_key")
    async with _AT_ONCE:
        if not keeps_text:
            return await _write_down(deps, uid, upload)
        operation = await _begin(deps, uid, upload)
        if operation.answer is None:
            return await _attempt(deps, uid, upload, operation)
    return _load(operation.answer)


async def forget_voice(deps: ChatDeps, uid: UserId, upload: VoiceUpload) -> None:
    """Delete the text of an upload, which stands in a chat now."""
    with suppress(KeepsakeError):  # it expires
        operation = await _begin(deps, uid, upload)
        await deps.stores.operations.delete(uid, operation)


async def _begin(deps: ChatDeps, uid: UserId, upload: VoiceUpload) -> Operation:
    now = deps.clock.now()
    operation = build_operation(upload.digest, deps.new_id(), fingerprint=upload.digest, now=now)
    try:
        return await deps.stores.operations.begin(
            uid, replace(operation, leased_until=now + _LEASE)
        )
    except Conflict:
        raise Conflict(IN_PROGRESS) from None


async def _attempt(
    deps: ChatDeps, uid: UserId, upload: VoiceUpload, operation: Operation
) -> SpokenText:
    """Let the next attempt begin at once where this one fails; a process that dies keeps its lease."""
    operations = deps.stores.operations
    try:
        spoken = await _write_down(deps, uid, upload)
    except (CallerError, ModelFailed):
        await operations.delete(uid, operation)
        raise
    except Exception:
        await operations.release(uid, operation)
        raise
    return _load(await operations.store_response(uid, operation, _dump(spoken)))


async def _write_down(deps: ChatDeps, uid: UserId, upload: VoiceUpload) -> SpokenText:
    samples = await to_thread.run_sync(decode_voice, upload.content)
    now, size = deps.clock.now(), len(upload.content)
    await deps.quotas.take(uid, "sound_bytes", size, now=now)
    try:
        with anyio.fail_after(_TRANSCRIPTION_TIME_S):
            transcription = await deps.build_transcriber().transcribe(
                build_wav(samples), language=upload.language
            )
    except BaseException as error:
        with anyio.CancelScope(shield=True):
            await deps.quotas.give_back(uid, "sound_bytes", size, now=now)
        if isinstance(error, TimeoutError):
            raise Unavailable("the transcriber takes too long") from error
        raise
    text = " ".join(utterance.text for utterance in transcription.utterances)
    return SpokenText(text=text, language=transcription.language)


def _dump(spoken: SpokenText) -> StoredResponse:
    body = type_adapter(SpokenText).dump_json(spoken)
    return StoredResponse(status=200, headers={}, body=body)


def _load(response: StoredResponse) -> SpokenText:
    spoken: SpokenText = type_adapter(SpokenText).validate_json(response.body)
    return spoken
