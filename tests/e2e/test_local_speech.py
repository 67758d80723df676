"""`make run SPEECH=local`: what cannot be had is refused in one line, before anything is installed."""

from pathlib import Path

import pytest

from tests.e2e.product import run_refused_start


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"SPEECH": "loud"}, "SPEECH='loud': want local, or none"),
        (
            {"SPEECH": "local", "SPEECH_MODEL": "enormous"},
            "SPEECH=local with SPEECH_MODEL=enormous: name a folder, a model as owner/name, or one of",
        ),
        (
            {"SPEECH": "local", "SPEECH_MODEL": "small", "HF_ENDPOINT": "http://127.0.0.1:9"},
            "SPEECH=local with SPEECH_MODEL=small: there is no connection to 127.0.0.1",
        ),
        (
            {"SPEECH": "local", "TRANSCRIPTION_API_KEY": "sk-1"},
            "SPEECH=local: TRANSCRIPTION_BASE_URL or TRANSCRIPTION_API_KEY names another server",
        ),
    ],
)
def test_what_cannot_be_had_is_told_in_one_line_l2(
    tmp_path: Path, settings: dict[str, str], reason: str
) -> None:
    code, message = run_refused_start(tmp_path, MODELS_DIR=str(tmp_path), **settings)

    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith(f"keepsake: {reason}")
