"""GGUF headers: what is read of a model's file, and that damaged files are told in a sentence."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.model_server.errors import CannotServeModel
from infra.model_server.gguf import read_header
from tests.infra.model_server.gguf_files import MODEL, store_model, write_header


def test_a_header_tells_name_window_and_what_a_token_takes(tmp_path: Path) -> None:
    header = read_header(store_model(tmp_path))

    assert (header.name, header.context_tokens) == ("Small One", 32_768)
    assert header.token_bytes == 24 * 2 * (64 + 64) * 2


def test_a_header_without_what_is_asked_gets_safe_values(tmp_path: Path) -> None:
    file = store_model(
        tmp_path, write_header({"general.architecture": "new", "new.block_count": 0})
    )

    header = read_header(file)

    assert (header.name, header.context_tokens) == ("small", 4_096)
    assert header.token_bytes > 0


@pytest.mark.parametrize(
    "content", [b"", b"GGUF", b"PK\x03\x04 a zip", b"# Keepsake\n", b"GGML" * 9]
)
def test_a_file_that_is_none_is_named_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = store_model(tmp_path, content)

    with pytest.raises(CannotServeModel) as error:
        read_header(file)

    assert str(error.value).startswith(f"{file} is no whole GGUF file: ")


def test_a_file_of_a_version_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    file = store_model(tmp_path, write_header(MODEL, version=99))

    with pytest.raises(CannotServeModel, match="unknown version"):
        read_header(file)


@given(st.integers(0, len(write_header(MODEL)) - 1))
def test_a_header_that_was_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    file = store_model(tmp_path_factory.mktemp("cut"), write_header(MODEL)[:length])

    with pytest.raises(CannotServeModel):
        read_header(file)


@given(st.binary(max_size=200))
def test_no_header_is_more_than_refused(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes
) -> None:
    whole = write_header(MODEL)
    file = store_model(tmp_path_factory.mktemp("damaged"), whole[:24] + damage + whole[60:])

    try:
        read_header(file)
    except CannotServeModel as error:
        assert str(error).startswith(str(file))  # noqa: PT017 - damage may also leave a header whole
