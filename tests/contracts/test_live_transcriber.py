"""Live transcription by providers' formats, against local servers that speak them; no provider was asked."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from shared.adapters.cloud.deepgram_live_transcriber import DeepgramLiveTranscriber
from shared.adapters.cloud.openai_live_transcriber import OpenaiLiveTranscriber
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing
from shared.domain.errors import ModelFailed, Unavailable
from shared.ports import LiveTranscriber
from tests.servers import run_server
from tests.servers.live_speech import KEY, FakeLiveSpeech

SECOND = bytes(range(256)) * (2 * SAMPLE_RATE // 256)
VENDORS = ("deepgram", "openai")


def result(*words: tuple[str, float, float, int], is_final: bool = True) -> dict[str, Any]:
    """Write a message of Deepgram's."""
    listed = [
        {"word": w.lower(), "punctuated_word": w, "start": s, "end": e, "confidence": 0.9, "speaker": n}
        for w, s, e, n in words
    ]  # fmt: skip
    best = {"transcript": "…", "confidence": 0.9, "words": listed, "languages": ["en"]}
    return {"type": "Results", "channel_index": [0, 1], "start": 0.0, "duration": 2.0,
            "is_final": is_final, "speech_final": is_final, "channel": {"alternatives": [best]}}  # fmt: skip


def turn(name: str, start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """Write the beginning and end of a turn as OpenAI does."""
    return [
        {"type": "input_audio_buffer.speech_started", "audio_start_ms": start_ms, "item_id": name},
        {"type": "input_audio_buffer.speech_stopped", "audio_end_ms": end_ms, "item_id": name},
        {"type": "input_audio_buffer.committed", "item_id": name},
    ]


def transcript(name: str, kind: str, text: str) -> dict[str, Any]:
    field = "delta" if kind == "delta" else "transcript"
    event = f"conversation.item.input_audio_transcription.{kind}"
    return {"type": event, "item_id": name, "content_index": 0, field: text}


ANSWERS = {
    "deepgram": [
        {"type": "SpeechStarted", "timestamp": 0.1},
        result(("Hel", 0.1, 0.5, 0), is_final=False),
        result(("Hello", 0.1, 0.6, 0), ("Ben.", 0.6, 1.0, 0), ("Hi!", 1.2, 1.5, 1)),
        result(),
        {"type": "Metadata", "duration": 2.0},
    ],
    "openai": [
        *turn("i1", 100, 1_000),
        transcript("i1", "delta", "Hel"),
        *turn("i2", 1_200, 1_500),
        {"type": "error", "error": {"code": "input_audio_buffer_commit_empty", "message": "…"}},
        transcript("i2", "completed", "Hi!"),
        transcript("i1", "completed", "Hello Ben."),
        {"type": "rate_limits.updated"},
    ],
}


@pytest.fixture
def server() -> FakeLiveSpeech:
    return FakeLiveSpeech()


@pytest.fixture
def url(server: FakeLiveSpeech) -> Iterator[str]:
    with run_server(server.app) as url:
        yield url


def build(vendor: str, url: str, key: str = KEY) -> LiveTranscriber:
    if vendor == "deepgram":
        return DeepgramLiveTranscriber(api_key=key, base_url=url)
    return OpenaiLiveTranscriber(api_key=key, base_url=f"{url}/v1")


async def hear(transcriber: LiveTranscriber, language: str | None = "en") -> list[Hearing]:
    async with transcriber.open(language=language) as hearing:
        for _ in range(2):
            await hearing.hear(SECOND)
        await hearing.end()
        told = [each async for each in hearing.iterate()]
        assert hearing.heard_until == pytest.approx(2.0)
    return told


@pytest.mark.parametrize("vendor", VENDORS)
async def test_what_a_provider_hears_is_told_in_order_l3(server, url, vendor) -> None:
    server.answers = ANSWERS[vendor]

    told = await hear(build(vendor, url))

    texts = [(u.text, u.start, each.is_final) for each in told for u in each.utterances]
    assert texts == [("Hel", 0.1, False), ("Hello Ben.", 0.1, True), ("Hi!", 1.2, True)]


async def test_deepgram_is_sent_plain_samples_and_told_what_they_are(server, url) -> None:
    server.answers = ANSWERS["deepgram"]
    told = await hear(build("deepgram", url), language=None)

    assert bytes(server.sound) == SECOND * 2
    assert server.queries[0].items() >= {"encoding": "linear16", "sample_rate": "16000", "language": "multi"}.items()  # fmt: skip
    assert [u.speaker for u in told[1].utterances] == ["SPEAKER_00", "SPEAKER_01"]
    assert told[1].language == "en"


async def test_openai_is_sent_three_samples_for_two_without_a_seam(server, url) -> None:
    server.answers = ANSWERS["openai"]
    await hear(build("openai", url))

    session, *appended, commit = server.texts
    sound = b"".join(base64.b64decode(each["audio"]) for each in appended)
    assert session["session"]["type"] == "transcription"
    assert session["session"]["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24_000}
    assert session["session"]["audio"]["input"]["transcription"]["language"] == "en"
    assert len(sound) == pytest.approx(3 * len(SECOND), abs=12)
    assert sound[:2] == SECOND[:2]
    assert commit == {"type": "input_audio_buffer.commit"}


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_refused_key_is_named_and_a_cut_line_is_passing(server, url, vendor) -> None:
    server.answers, server.breaks = [], True

    with pytest.raises(ModelFailed, match=f"{vendor.upper()}_API_KEY"):
        await hear(build(vendor, url, key="another"))
    with pytest.raises(Unavailable):
        await hear(build(vendor, url))
    with pytest.raises(Unavailable):
        await hear(build(vendor, "http://127.0.0.1:9"))


async def test_a_turn_that_openai_does_not_hear_still_waits_l3(server, url) -> None:
    """Those behind it are told by nobody else: what waits is transcribed another way."""
    server.answers = [
        *turn("i1", 300, 1_000),
        *turn("i2", 1_200, 1_500),
        transcript("i2", "completed", "Hi!"),
        transcript("i1", "failed", ""),
    ]
    async with build("openai", url).open() as hearing:
        await hearing.hear(SECOND)
        await hearing.hear(SECOND)
        assert hearing.heard_until == 0.5  # speech may have begun that is not told yet
        await hearing.end()
        with pytest.raises(Unavailable):
            [each async for each in hearing.iterate()]

        assert hearing.heard_until == 0.3
