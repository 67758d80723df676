"""Transcriber on a real HTTP server: the formats of each model, voices, and the causes of refusals."""

from collections.abc import Iterator
from typing import Any

import pytest

from shared.adapters.cloud.openai_transcriber import OpenaiTranscriber
from shared.domain.conversations.speech import Transcription, Utterance, Voice
from shared.domain.errors import ModelFailed, Unavailable
from shared.library.sound import build_wav
from tests.servers import run_server
from tests.servers.transcription import (
    KEY,
    FakeTranscription,
    diarized,
    measure_data_url_s,
    refuse,
)

SOUND = build_wav(bytes(2 * 16_000 * 10))
"""Ten seconds."""


@pytest.fixture
def server() -> FakeTranscription:
    return FakeTranscription()


@pytest.fixture
def url(server: FakeTranscription) -> Iterator[str]:
    with run_server(server.app) as origin:
        yield f"{origin}/v1"


async def transcribe(url: str, model: str = "whisper-1", **options: Any) -> Transcription:
    transcriber = OpenaiTranscriber(api_key=KEY, base_url=url, model=model)
    try:
        return await transcriber.transcribe(SOUND, **options)
    finally:
        await transcriber.aclose()


async def test_a_model_that_diarizes_is_asked_for_speakers_and_told_known_voices_u3(server, url):
    server.default = diarized(("SPEAKER_00", 0, 2.5, "Hello."), ("A", 2.5, 4, "Hi Ann."))
    voices = [Voice(name=f"SPEAKER_0{n}", clip=build_wav(bytes(64_000))) for n in range(5)]

    transcription = await transcribe(url, "gpt-4o-transcribe-diarize", language="en", voices=voices)

    assert transcription.utterances == (
        Utterance(text="Hello.", start=0, end=2.5, speaker="SPEAKER_00"),
        Utterance(text="Hi Ann.", start=2.5, end=4, speaker="A"),
    )
    (request,) = server.requests
    assert request.authorization == f"Bearer {KEY}"
    assert request.duration_s == 10
    assert request.fields["response_format"] == ["diarized_json"]
    assert request.fields["chunking_strategy"] == ["auto"]
    assert request.fields["language"] == ["en"]
    assert request.fields["known_speaker_names[]"] == [f"SPEAKER_0{n}" for n in range(4)]
    clips = request.fields["known_speaker_references[]"]
    assert [measure_data_url_s(clip) for clip in clips] == [2.0] * 4


async def test_whisper_is_asked_for_times(server, url):
    segment = {"id": 0, "start": 1.0, "end": 3.0, "text": " Hallo.", "tokens": [1], "seek": 0}
    server.default = {
        "task": "transcribe",
        "language": "german",
        "text": "x",
        "segments": [segment],
    }

    transcription = await transcribe(url)

    assert transcription.utterances == (Utterance(text="Hallo.", start=1, end=3),)
    assert transcription.language is None
    assert server.requests[0].fields["response_format"] == ["verbose_json"]


async def test_a_text_without_times_is_spread_over_the_sound_by_sentences(server, url):
    server.default = {"text": "One two. Three four five six! Seven."}

    transcription = await transcribe(url, "gpt-4o-transcribe")

    assert server.requests[0].fields["response_format"] == ["json"]
    texts = [utterance.text for utterance in transcription.utterances]
    assert texts == ["One two.", "Three four five six!", "Seven."]
    assert transcription.utterances[0].start == 0
    assert transcription.utterances[-1].end == 10
    starts = [utterance.start for utterance in transcription.utterances[1:]]
    assert starts == [utterance.end for utterance in transcription.utterances[:-1]]


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("whisper-1", ["Zoë, Porto"]),
        ("gpt-4o-transcribe", ["Zoë, Porto"]),
        ("gpt-4o-transcribe-diarize", None),
    ],
)
async def test_words_that_may_be_said_are_told_to_models_that_take_a_prompt(
    server, url, model, prompt
):
    server.default = {"text": ""}

    await transcribe(url, model, hint="Zoë, Porto")

    assert server.requests[0].fields.get("prompt") == prompt


async def test_gpt_transcribe_is_told_the_language_as_one_of_several_u3(server, url):
    server.default = {"text": "Hallo.", "languages": [{"code": "de"}]}

    transcription = await transcribe(url, "gpt-transcribe", language="de")

    assert transcription.utterances == (Utterance(text="Hallo.", start=0, end=10),)
    fields = server.requests[0].fields
    assert (fields["languages[]"], fields["response_format"]) == (["de"], ["json"])
    assert "language" not in fields


@pytest.mark.parametrize("answer", [{"text": ""}, {"text": " "}, {"segments": []}, {}])
async def test_silence_is_no_utterance(server, url, answer):
    server.default = answer

    assert (await transcribe(url)).utterances == ()


async def test_times_that_a_model_invents_stay_within_the_sound(server, url):
    server.default = diarized(("A", -3, 5, "Early."), ("A", 9, 4, "Back."), ("B", 11, 99, "Late."))

    spans = [(u.start, u.end) for u in (await transcribe(url)).utterances]

    assert spans == [(0, 5), (9, 9), (10, 10)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (refuse(401, "invalid_api_key"), "refused_key"),
        (refuse(403), "refused_key"),
        (refuse(404), "unknown_model"),
        (refuse(400, "model_not_found"), "unknown_model"),
        (refuse(429, "insufficient_quota"), "no_quota"),
        (refuse(413), "too_long"),
        (refuse(400), "other"),
        (b"<html>", "malformed_answer"),
        ({"segments": [{"start": "soon"}]}, "malformed_answer"),
        ([], "malformed_answer"),
    ],
)
async def test_a_refusal_names_its_cause_and_quotes_nothing(server, url, answer, reason):
    server.default = answer

    with pytest.raises(ModelFailed) as refused:
        await transcribe(url)

    assert refused.value.reason == reason
    assert "secret" not in str(refused.value)


async def test_a_server_that_fails_or_is_away_may_be_asked_again(server, url):
    server.default = refuse(503)

    with pytest.raises(Unavailable):
        await transcribe(url)
    with pytest.raises(Unavailable):
        await transcribe("http://127.0.0.1:9/v1")
    assert len(server.requests) == 3
