"""Transcriber of the console: the key that is entered there counts at once, and other servers are not asked."""

import pytest

from shared.adapters.embedded.chosen import Chosen
from shared.adapters.embedded.configured_transcriber import ConfiguredTranscriber
from shared.adapters.embedded.model_file import ModelFile, ModelSetup
from shared.adapters.missing_transcriber import MissingTranscriber
from shared.domain.errors import ModelFailed
from shared.ports import Transcriber
from tests.fakes import ScriptedTranscriber

SETUP = ModelSetup(
    kind="openai", base_url="http://127.0.0.1:9/v1", api_key="sk-1", model="a", small_model="b"
)
LINE = ("A", 0.0, 1.0, "Hello.")


def build(setup: ModelSetup | None) -> Transcriber:
    return ScriptedTranscriber([[LINE]], name=setup.api_key) if setup else MissingTranscriber()


@pytest.fixture
def file(tmp_path) -> ModelFile:
    return ModelFile(tmp_path / "data")


async def test_a_key_that_is_entered_or_taken_away_counts_from_the_next_call_on(
    file: ModelFile,
):
    transcriber = ConfiguredTranscriber(Chosen(file, build))
    before = transcriber.is_ready
    file.store(SETUP)
    transcription = await transcriber.transcribe(b"")
    named = (transcriber.name, transcriber.is_ready)
    file.delete()

    assert before is False
    assert [utterance.text for utterance in transcription.utterances] == ["Hello."]
    assert named == ("sk-1", True)
    assert transcriber.is_ready is False
    with pytest.raises(ModelFailed, match="OPENAI_API_KEY"):
        await transcriber.transcribe(b"")
