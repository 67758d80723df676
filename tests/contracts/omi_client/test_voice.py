"""Voice calls of the released app, with a transcription service and without one (R1)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.contracts.omi_client.objects import MESSAGE
from tests.contracts.omi_client.phone import Phone, sign_in
from tests.contracts.omi_client.readers import each
from tests.e2e.product import run_product
from tests.fixtures.sounds import build_tone, encode_for_device
from tests.old_app import RenderedAnswer, parse_as_fixed_app, parse_as_old_app
from tests.servers import run_server
from tests.servers.transcription import KEY, FakeTranscription

RECORDING = ("audio_fs160_1772438400.bin", encode_for_device(build_tone(1)))
CHUNK = ("recording_1772438400000.wav", build_tone(1))
HEARD = {"text": "When is the Lisbon offsite?", "language": "en"}


@pytest.fixture(scope="module")
def transcription() -> FakeTranscription:
    return FakeTranscription(default=HEARD)


@pytest.fixture(scope="module")
def hearing_phone(
    tmp_path_factory: pytest.TempPathFactory, transcription: FakeTranscription
) -> Iterator[Phone]:
    with ExitStack() as stack:
        url = stack.enter_context(run_server(transcription.app))
        settings = {"TRANSCRIPTION_BASE_URL": f"{url}/v1", "TRANSCRIPTION_API_KEY": KEY}
        product = stack.enter_context(run_product(tmp_path_factory.mktemp("voice"), **settings))
        http = stack.enter_context(httpx.Client(base_url=product.origin, timeout=90))
        yield sign_in(http, "speaker")


def speak(phone: Phone, *, name: str = RECORDING[0]) -> RenderedAnswer:
    """Send a recording as the app does, and read the stream with both of its parsers."""
    files = {"files": (name, RECORDING[1])}
    response = phone.http.post("/v2/voice-messages", files=files)
    assert response.status_code == 200, response.text
    answer = parse_as_fixed_app([response.content])
    assert parse_as_old_app([response.content]) == answer
    assert not answer.failed
    return answer


@pytest.mark.client_call("sendVoiceMessageStreamServer")
def test_what_was_said_comes_first_and_stands_in_the_chat_with_its_answer_r1(
    hearing_phone, transcription
):
    answer = speak(hearing_phone)
    again = speak(hearing_phone)
    listed = hearing_phone.get("/v2/messages", each(MESSAGE), app_id="", dropdown_selected="false")

    question = MESSAGE(answer.question)
    assert question["text"] == "When is the Lisbon offsite?"
    assert again == answer
    assert [message["id"] for message in listed] == [MESSAGE(answer.done)["id"], question["id"]]
    assert listed[1]["text"] == question["text"]
    assert [request.duration_s for request in transcription.requests] == [pytest.approx(1, abs=0.1)]


@pytest.mark.client_call("sendVoiceMessageStreamServer")
def test_a_recording_that_is_not_understood_is_answered_in_words_r1(hearing_phone, transcription):
    transcription.answers.append({"text": ""})

    answer = speak(hearing_phone, name="audio_fs160_1772438401.bin")

    assert answer.question is None
    assert MESSAGE(answer.done)["text"] == answer.text
    assert answer.text.startswith("I could not hear anybody")


@pytest.mark.client_call("transcribeVoiceMessage")
def test_a_chunk_becomes_text_r1(hearing_phone):
    heard = hearing_phone.send(
        "POST", "/v2/voice-message/transcribe", files={"files": CHUNK}, data={"language": "en"}
    )

    assert heard["transcript"] == "When is the Lisbon offsite?"


@pytest.mark.client_call("sendVoiceMessageStreamServer", "transcribeVoiceMessage")
def test_without_a_transcription_service_it_says_what_to_set_r1(sign_up: Callable[[], Phone]):
    phone = sign_up()

    status, detail = phone.refuse("POST", "/v2/voice-message/transcribe", files={"files": CHUNK})
    answer = speak(phone)

    assert (status, answer.text) == (503, detail)
    assert detail.startswith("Nothing is set up that turns speech into text")
    assert answer.question is None
