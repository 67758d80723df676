"""Local key: where a server takes it from, and what the commands send (S9)."""

import stat
from pathlib import Path

import pytest

from infra.local.local_key import build_key_header, open_local_key
from shared.settings import Settings, SettingsError


def test_the_first_start_makes_a_key_and_the_second_reads_it_s9(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")

    first, second = open_local_key(settings), open_local_key(settings)

    file = tmp_path / "data" / "local_key"
    assert first == second
    assert file.read_text() == first.secret  # bare, without a newline
    assert len(first.secret) == 43
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert first.place == f"the content of {file}"
    assert build_key_header(settings) == {"X-Local-Key": first.secret}


def test_a_key_of_the_settings_replaces_the_file_s9(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, local_key="mine")

    assert open_local_key(settings).secret == "mine"
    assert list(tmp_path.iterdir()) == []
    assert build_key_header(settings) == {"X-Local-Key": "mine"}


def test_a_key_edited_by_hand_may_end_with_a_newline_s9(tmp_path: Path) -> None:
    (tmp_path / "local_key").write_text("mine\n")
    settings = Settings(data_dir=tmp_path)

    assert open_local_key(settings).secret == "mine"
    assert build_key_header(settings) == {"X-Local-Key": "mine"}


@pytest.mark.parametrize("content", [b"\n", b"two words", b"\xff\xfe"])
def test_a_file_without_a_key_is_refused_at_start_s9(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "local_key").write_bytes(content)

    with pytest.raises(SettingsError, match="local_key holds no key: delete it"):
        open_local_key(Settings(data_dir=tmp_path))


def test_a_command_without_a_key_sends_none_s9(tmp_path: Path) -> None:
    assert build_key_header(Settings(data_dir=tmp_path / "missing")) == {}
