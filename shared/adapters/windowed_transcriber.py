"""LiveTranscriber over any Transcriber: it hears windows of voice, each as soon as it ends.

Where hearing costs nothing, an open window is heard meanwhile too, to show what is likely being said. Windows that
ended while another was heard are heard at once, as each call takes as long as another.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import islice, takewhile

from shared.adapters.voice_windows import MAX_WINDOW_S, VoiceWindows
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing, Transcription, Window
from shared.domain.errors import Unavailable
from shared.library.sound import build_wav
from shared.ports import Clock, LiveHearing, Transcriber

GUESS_STEP_S = 1.0
"""How much more must be spoken before an open window is heard again, where hearing takes no longer."""
RETRY_DELAYS_S = (1.0, 3.0)


class WindowedTranscriber:
    def __init__(self, transcriber: Transcriber, clock: Clock, *, shows_guesses: bool) -> None:
        self._transcriber = transcriber
        self._clock = clock
        self._shows_guesses = shows_guesses

    @property
    def name(self) -> str:
        return self._transcriber.name

    @property
    def is_ready(self) -> bool:
        return self._transcriber.is_ready

    @asynccontextmanager
    async def open(self, *, language: str | None = None) -> AsyncIterator[LiveHearing]:
        yield _WindowedHearing(
            self._transcriber, self._clock, language=language, shows_guesses=self._shows_guesses
        )


class _WindowedHearing:
    """Speakers are not told apart: each window is heard by itself."""

    def __init__(
        self, transcriber: Transcriber, clock: Clock, *, language: str | None, shows_guesses: bool
    ) -> None:
        self._transcriber = transcriber
        self._clock = clock
        self._language = language
        self._shows_guesses = shows_guesses
        self._windows = VoiceWindows()
        self._waiting = deque[Window]()
        self._busy_count = 0
        self._is_ended = False
        self._guessed_until = 0.0
        self._took_s = 0.0
        self._changed = asyncio.Condition()

    @property
    def heard_until(self) -> float:
        return self._waiting[0].start if self._waiting else self._windows.quiet_until

    async def hear(self, samples: bytes) -> None:
        async with self._changed:
            self._waiting.extend(self._windows.add(samples))
            self._changed.notify_all()

    async def flush(self) -> None:
        async with self._changed:
            self._waiting.extend(self._windows.flush())
            self._changed.notify_all()

    async def end(self) -> None:
        await self.flush()
        async with self._changed:
            self._is_ended = True
            self._changed.notify_all()

    def give_up(self) -> Sequence[Window]:
        given_up = [self._waiting.pop() for _ in range(len(self._waiting) - self._busy_count)]
        return given_up[::-1]

    async def iterate(self) -> AsyncGenerator[Hearing, None]:
        while True:
            async with self._changed:
                await self._changed.wait_for(self._has_work)
            if self._waiting:
                windows = self._choose_next()
                self._busy_count = len(windows)
                try:
                    yield await self._transcribe(_join(windows), is_final=True)
                finally:
                    self._busy_count = 0
                for _ in windows:
                    self._waiting.popleft()
                self._guessed_until = 0.0
            elif self._is_ended:
                return
            else:
                guess = self._windows.build_open()
                self._guessed_until = guess.end
                yield await self._transcribe(guess, is_final=False)

    def _has_work(self) -> bool:
        return bool(self._waiting) or self._is_ended or self._can_guess()

    def _can_guess(self) -> bool:
        open_until = self._windows.open_until if self._shows_guesses else None
        if open_until is None:
            return False
        begin = max(self._windows.quiet_until, self._guessed_until)
        return open_until - begin >= max(GUESS_STEP_S, self._took_s)

    def _choose_next(self) -> list[Window]:
        """Return the windows that wait, as far as they are no longer together than one may be."""
        until = self._waiting[0].start + MAX_WINDOW_S
        return [
            self._waiting[0],
            *takewhile(lambda each: each.end <= until, islice(self._waiting, 1, None)),
        ]

    async def _transcribe(self, window: Window, *, is_final: bool) -> Hearing:
        began_at = self._clock.now()
        heard = await self._ask(window, is_draft=not is_final)
        self._took_s = (self._clock.now() - began_at).total_seconds()
        return Hearing(
            utterances=tuple(
                replace(
                    each,
                    start=min(each.start + window.start, window.end),
                    end=min(each.end + window.start, window.end),
                    speaker=None,
                )
                for each in heard.utterances
            ),
            is_final=is_final,
            language=heard.language,
        )

    async def _ask(self, window: Window, *, is_draft: bool) -> Transcription:
        """Ask again where that may help: the sound is nowhere else."""
        for delay_s in RETRY_DELAYS_S:
            try:
                return await self._transcriber.transcribe(
                    build_wav(window.samples), language=self._language, is_draft=is_draft
                )
            except Unavailable:
                await self._clock.sleep(delay_s)
        return await self._transcriber.transcribe(
            build_wav(window.samples), language=self._language, is_draft=is_draft
        )


def _join(windows: Sequence[Window]) -> Window:
    """Return one window of all, with silence where there was none."""
    first, *others = windows
    samples = bytearray(first.samples)
    for each in others:
        samples += bytes(2 * round((each.start - first.start) * SAMPLE_RATE) - len(samples))
        samples += each.samples
    return Window(start=first.start, samples=bytes(samples))
