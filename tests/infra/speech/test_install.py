"""Models of local speech: found by a folder, a size or a name, and refused in a sentence."""

from pathlib import Path
from typing import Any

import pytest

from infra.model_server.errors import CannotServeModel
from infra.speech.install import NEEDED, find_model
from shared.settings import Settings
from tests.infra.model_server.test_hub import ScriptedHub
from tests.servers import run_server

FILES = {**dict.fromkeys(NEEDED, b"1"), "README.md": b"2", "vocabulary.txt": b"3"}


def find(wanted: str | Path, **environment: Any) -> Path:
    return find_model(Settings.from_env({"DATA_DIR": "d", **environment}), str(wanted))


def test_a_folder_with_a_model_is_taken_as_it_is_l2(tmp_path: Path) -> None:
    for name in NEEDED:
        (tmp_path / name).touch()

    assert find(tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("small", "Systran/faster-whisper-small"),
        ("turbo", "mobiuslabsgmbh/faster-whisper-large-v3-turbo"),
        ("ann/whisper-of-her-own", "ann/whisper-of-her-own"),
    ],
)
def test_a_size_or_a_name_is_fetched_once_with_what_the_model_needs_l2(
    tmp_path: Path, wanted: str, name: str
) -> None:
    hub = ScriptedHub(FILES)
    with run_server(hub.build_app()) as url:
        folders = [find(wanted, MODELS_DIR=str(tmp_path), HF_ENDPOINT=url) for _ in range(2)]

    assert folders == [tmp_path / name] * 2
    assert {file.name for file in folders[0].iterdir()} == {*NEEDED, "vocabulary.txt"}
    assert len(hub.requests) == 1 + len(NEEDED) + 1


def test_what_is_no_model_is_refused_with_what_to_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    hub = ScriptedHub({"m.gguf": b"GGUF"})
    with (
        run_server(hub.build_app()) as url,
        pytest.raises(CannotServeModel, match=r"ann/text has no model\.bin"),
    ):
        find("ann/text", MODELS_DIR=str(tmp_path), HF_ENDPOINT=url)

    with pytest.raises(CannotServeModel, match=r"has no tokenizer\.json: name a Whisper model"):
        find(tmp_path)
    with pytest.raises(CannotServeModel, match="owner/name, or one of tiny, base, small, medium"):
        find("enormous")
