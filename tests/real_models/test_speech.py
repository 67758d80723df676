"""Speech on this machine: Whisper hears three languages, and what was said is found and answered from.

espeak-ng speaks; it is a package of Debian.
"""

import math
import random
import shutil
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import httpx
import pytest

from infra.emulators.process import CannotRunError
from infra.speech.install import LocalSpeech, install_speech
from shared.adapters.embedded.local_transcriber import LocalTranscriber
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.library.sound import Sound, build_wav
from shared.settings import Settings
from tests.conftest import run_or_skip
from tests.e2e.product import ask, run_product
from tests.e2e.waiting import wait_until
from tests.fixtures.sounds import build_tone
from tests.real_models.conftest import CACHE, offer

pytestmark = pytest.mark.real_model

SPOKEN = {
    "en": "The offsite in Lisbon moves to Friday. Martha will book the hotel near the river.",
    "es": "La reunión con el arquitecto es el martes. Tenemos que comprar madera para la cocina.",
    "fr": "Bonjour à tous. Nous devons acheter du bois pour la cuisine. Le train part à huit heures.",
}
FOUND = {"en": "hotel near the river", "es": "reunión arquitecto martes", "fr": "acheter du bois"}
STORY = (
    "Good morning everybody. Today we talk about the offsite in Lisbon, which moves to Friday. Peter asked whether "
    "the train is cheaper than the plane. It takes nine hours, so most of us will fly. The dentist called and moved my "
    "appointment to Thursday. Please remember to bring the insurance card. After lunch we look at the new kitchen. "
    "The carpenter wants to know whether the shelves should be oak or pine. Oak costs more, but it lasts longer. "
    "My sister arrives in October and stays for a week. We should clean the guest room and buy a new lamp. "
)
LEAST_SPEED = 3
"""Seconds of sound for a second of one processor: less than two quiet ones do in that time."""
READ_TIMEOUT_S, START_TIMEOUT_S, TRANSCRIPTION_TIMEOUT_S = 120, 180, 300


@pytest.fixture(scope="module")
def speech() -> Iterator[LocalSpeech]:
    settings = Settings.from_env({"MODELS_DIR": str(CACHE)})
    with run_or_skip(lambda: offer(lambda: install_speech(settings))) as installed:
        yield installed


def speak(text: str, language: str, folder: Path) -> Path:
    """Return a WAV in which a synthetic voice says a text."""
    file = folder / f"{language}.wav"
    subprocess.run(["espeak-ng", "-v", language, "-s", "140", "-w", file, text], check=True)
    return file


@pytest.fixture(scope="module", autouse=True)
def voice() -> None:
    with run_or_skip(lambda: offer(find_voice)):
        pass


def find_voice() -> str:
    path = shutil.which("espeak-ng")
    if path is None:
        raise CannotRunError("espeak-ng is missing: apt-get install espeak-ng")
    return path


def build_transcriber(speech: LocalSpeech) -> LocalTranscriber:
    program = "shared.adapters.embedded.whisper_program"
    return LocalTranscriber(
        "base", [sys.executable, "-m", program, str(speech.packages), str(speech.model)]
    )


@pytest.fixture(scope="module")
def alice(speech: LocalSpeech, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Her client of a product that was started with SPEECH=local and nothing else."""
    assert speech.model.is_dir()  # its installation takes longer than a start
    folder = tmp_path_factory.mktemp("hearing")
    with run_product(folder, SPEECH="local", MODELS_DIR=str(CACHE.absolute())) as product:
        log = folder / "product.log"
        wait_until(lambda: "stop with Ctrl-C" in log.read_text() or None, within_s=START_TIMEOUT_S)
        assert "speech becomes text on this machine · Whisper base · 145 MB" in log.read_text()
        with product.client("alice") as http:
            http.timeout = httpx.Timeout(READ_TIMEOUT_S)
            yield http


def hand_in(alice: httpx.Client, sound: Path) -> dict[str, Any]:
    """Hand in a file; return the conversation that it became."""
    accepted = alice.post("/v1/audio", files={"file": (sound.name, sound.read_bytes())})
    name = str(accepted.raise_for_status().json()["id"])

    def find_conversation() -> dict[str, Any] | None:
        recording = alice.get(f"/v1/audio/{name}").json()
        assert recording["status"] != "failed", recording
        if recording["status"] != "done":
            return None
        conversation: dict[str, Any] = alice.get(f"/v1/conversations/{name}").json()
        return conversation if conversation["status"] == "completed" else None

    return wait_until(find_conversation, within_s=TRANSCRIPTION_TIMEOUT_S)


@pytest.mark.parametrize("language", SPOKEN)
def test_what_was_said_is_found_in_its_language_l2(
    alice: httpx.Client, tmp_path: Path, language: str
) -> None:
    conversation = hand_in(alice, speak(SPOKEN[language], language, tmp_path))
    question = {"query": FOUND[language], "per_page": 20}
    found = alice.post("/v1/conversations/search", json=question).json()["items"]

    assert conversation["language"] == language
    assert found[0]["id"] == conversation["id"]
    assert {segment["is_user"] for segment in conversation["transcript_segments"]} == {False}


def test_a_question_is_answered_from_what_was_heard_l2(alice: httpx.Client, tmp_path: Path) -> None:
    hand_in(alice, speak(SPOKEN["en"], "en", tmp_path))

    answer = ask(alice, "Who will book the hotel?")

    assert "Martha" in answer.text


async def test_long_speech_is_heard_faster_than_it_is_spoken_l2(
    speech: LocalSpeech, tmp_path: Path
) -> None:
    with speak(STORY * 2, "en", tmp_path).open("rb") as file:
        [*pieces] = Sound(file).iterate_pieces()
    before = measure_children_s()
    async with aclosing(build_transcriber(speech)) as transcriber:
        heard = [await transcriber.transcribe(build_wav(piece.samples)) for piece in pieces]

    speed = pieces[-1].end / (measure_children_s() - before)
    sentences = sum(len(each.utterances) for each in heard)
    print(f"{pieces[-1].end:.0f} s of sound: {speed:.1f} times real time by one processor's time")  # noqa: T201  the figure of this test
    assert speed >= LEAST_SPEED
    assert sentences > 15


def measure_children_s() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build_noise(loudness: int) -> bytes:
    """Build half a minute of hiss, which swells and fades as rain in gusts does."""
    draw = random.Random(3)  # noqa: S311 - noise
    return array(
        "h",
        (
            round(draw.gauss(0, loudness * (1 + n // SAMPLE_RATE % 4)))
            for n in range(30 * SAMPLE_RATE)
        ),
    ).tobytes()


def build_music() -> bytes:
    """Build half a minute of a tune: plucked notes with overtones over a bass."""
    notes = (220, 277, 330, 440, 370, 494, 294, 392)
    samples = array("h")
    for n in range(30 * SAMPLE_RATE):
        beat, since = divmod(n / SAMPLE_RATE, 0.5)
        tune, bass = notes[int(beat) % 8], notes[int(beat) // 4 % 8] / 2
        waves = [math.sin(math.tau * tune * over * n / SAMPLE_RATE) / over for over in (1, 2, 3)]
        low = math.sin(math.tau * bass * n / SAMPLE_RATE)
        samples.append(round(4_000 * (sum(waves) * math.exp(-6 * since) + low) / 2))
    return samples.tobytes()


SOUNDS: Mapping[str, Callable[[], bytes]] = {
    "silence": lambda: bytes(960_000),
    "tone": lambda: build_tone(30)[44:],
    "hiss": lambda: build_noise(60),
    "gusts": lambda: build_noise(1_500),
    "music": build_music,
}
"""Half a minute each."""


@pytest.mark.parametrize("name", SOUNDS)
async def test_nothing_is_invented_where_nobody_speaks_l2(speech: LocalSpeech, name: str) -> None:
    async with aclosing(build_transcriber(speech)) as transcriber:
        heard = await transcriber.transcribe(build_wav(SOUNDS[name]()))

    assert heard.utterances == ()
